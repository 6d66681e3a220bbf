-- The first read rolls a hot journal back; leaving write-ahead mode applies the log and removes it.
PRAGMA writable_schema = ON;
SELECT count(*) FROM sqlite_master;
PRAGMA journal_mode = DELETE;
