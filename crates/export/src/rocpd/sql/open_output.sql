PRAGMA main.locking_mode = EXCLUSIVE;
PRAGMA main.journal_mode = OFF;
PRAGMA main.synchronous = OFF;
PRAGMA main.cache_size = -65536;
PRAGMA foreign_keys = OFF;
