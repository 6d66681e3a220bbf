SELECT CAST(r.domain AS VARCHAR) AS domain FROM regions AS r WHERE r.domain IS NOT NULL GROUP BY CAST(r.domain AS VARCHAR) ORDER BY domain
