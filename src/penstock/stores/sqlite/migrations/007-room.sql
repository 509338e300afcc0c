-- What is written into a message's row when it is first handed out needs room. Where there is none on the page, the page
-- is split. So a row brings that room along, and its first delivery takes it.
--   room      as many bytes as the row would grow by, and NULL from then on
ALTER TABLE message ADD COLUMN room BLOB;
