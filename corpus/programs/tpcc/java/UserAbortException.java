package tpcc;

/** A transaction that ends by itself: the specification wants one in a hundred New-Orders to. */
public class UserAbortException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public UserAbortException(String message) {
        super(message);
    }
}
