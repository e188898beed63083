package tpcc;

/** What all transactions share: the names of the tables, and sizes. */
public final class TpccConfig {

    public static final String WAREHOUSE = "warehouse";
    public static final String DISTRICT = "district";
    public static final String CUSTOMER = "customer";
    public static final String HISTORY = "history";
    public static final String ORDERS = "orders";
    public static final String NEW_ORDER = "new_order";
    public static final String ITEM = "item";
    public static final String STOCK = "stock";
    public static final String ORDER_LINE = "order_line";

    /** Ten in the specification. */
    public static final int DISTRICTS_PER_WAREHOUSE = 2;

    /** A stock that would fall below this is filled up. */
    public static final int STOCK_RESERVE = 10;
    public static final int STOCK_REFILL = 91;

    /** The credit of customers who do not pay. */
    public static final String BAD_CREDIT = "BC";

    private TpccConfig() {
    }
}
