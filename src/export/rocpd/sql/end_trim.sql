DROP TABLE temp.kept_event;
DROP TABLE temp.launching_stack;
DROP TABLE temp.launching_event;
DROP TABLE temp.enclosing_region;
