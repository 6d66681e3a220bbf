SELECT max(replay_pass) FROM {dispatches} WHERE typeof(replay_pass) = 'integer'
