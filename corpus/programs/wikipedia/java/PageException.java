package wikipedia;

/** What a reader or a writer asked for cannot be done. */
public class PageException extends Exception {

    private static final long serialVersionUID = 1L;

    public PageException(String message) {
        super(message);
    }
}
