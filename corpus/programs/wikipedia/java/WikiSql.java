package wikipedia;

/** The statements that more than one class needs. */
interface WikiSql {

    String PAGE_BY_TITLE =
            "SELECT page_id, page_latest FROM page WHERE page_namespace = ? AND page_title = ?";

    String COUNT_RESTRICTIONS =
            "SELECT COUNT(*) FROM page_restrictions WHERE pr_page = ? AND pr_type = 'read'";

    String TEXT_OF_REVISION =
            "SELECT rev_text_id FROM revision WHERE rev_page = ? AND rev_id = ?";

    String TEXT =
            "SELECT old_text FROM page_text WHERE old_id = ?";

    String TOUCH_USER =
            "UPDATE useracct SET user_touched = ? WHERE user_id = ?";
}
