-- Point reads by primary key, skewed by a power law whose ranks are scattered over the table, as YCSB does it.
-- Debian's sysbench has no Zipf distribution of its own.

sysbench.cmdline.options = {
   table_size = {"Number of rows", 500000},
   tables = {"Number of tables, only the first is read", 1},
   exponent = {"Exponent of the power law", 0.99},
}

local STRIDE = 314159 -- prime, so that every rank has a row of its own

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function thread_done()
   connection:disconnect()
end

function event()
   local rows, power = sysbench.opt.table_size, 1 - sysbench.opt.exponent
   local rank = math.floor(((rows ^ power - 1) * sysbench.rand.uniform_double() + 1) ^ (1 / power))
   local id = (rank * STRIDE) % rows + 1
   connection:query(string.format("SELECT c FROM sbtest1 WHERE id = %d", id))
end
