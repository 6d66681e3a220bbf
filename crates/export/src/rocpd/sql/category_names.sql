SELECT id, string FROM source.{string} WHERE id IN (SELECT category_id FROM source.{event}) ORDER BY id
