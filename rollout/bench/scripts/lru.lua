-- Reads that move pages in InnoDB's LRU list, each event one query:
--   points    rows by primary key, an IN list          (one leaf of the table a row)
--   covering  a secondary index alone, an IN list      (one leaf of that index a row)
--   lookup    rows through a secondary index, IN list  (a leaf of the index and one of the table a row)
--   range     neighbours in a secondary index, and their rows
-- The numbers come from sysbench's own generators: uniform, pareto (80 % in 20 %), hot (sysbench's "special").

sysbench.cmdline.options = {
   target = {"Table", "small"},
   table_size = {"Number of rows", 100000},
   shape = {"points|covering|lookup|range", "points"},
   access = {"uniform|pareto|hot", "uniform"},
   list = {"Rows a query", 100},
}

local draw = {
   uniform = function(n) return sysbench.rand.uniform(1, n) end,
   pareto = function(n) return sysbench.rand.pareto(1, n) end,
   hot = function(n) return sysbench.rand.special(1, n) end,
}

local statement = {
   points = "SELECT SUM(LENGTH(c)) FROM %s WHERE id IN (%s)",
   covering = "SELECT COUNT(k) FROM %s FORCE INDEX (k) WHERE k IN (%s)",
   lookup = "SELECT SUM(LENGTH(c)) FROM %s FORCE INDEX (k) WHERE k IN (%s)",
   range = "SELECT SUM(LENGTH(c)) FROM %s FORCE INDEX (k) WHERE k BETWEEN %d AND %d",
}

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function thread_done()
   connection:disconnect()
end

function event()
   local opt = sysbench.opt
   local pick = draw[opt.access]
   if opt.shape == "range" then
      local first = pick(opt.table_size)
      connection:query(string.format(statement.range, opt.target, first, first + opt.list - 1))
      return
   end
   local ids = {}
   for i = 1, opt.list do ids[i] = pick(opt.table_size) end
   connection:query(string.format(statement[opt.shape], opt.target, table.concat(ids, ",")))
end
