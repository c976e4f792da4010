-- Reads that move pages in InnoDB's LRU list, each event one query:
--   points    rows by primary key, an IN list          (one leaf of the table a row)
--   covering  a secondary index alone, an IN list      (one leaf of that index a row)
--   lookup    rows through a secondary index, IN list  (a leaf of the index and one of the table a row)
--   range     neighbours in a secondary index, and their rows
-- Each thread tells in the end how many events it ended in which tenth of a second since the epoch (`pace`).
-- The numbers come from sysbench's own generators: uniform, pareto (80 % in 20 %), hot (sysbench's "special").

local ffi = require("ffi")
ffi.cdef[[
typedef struct { long seconds; long microseconds; } rollout_time;
int gettimeofday(rollout_time *now, void *zone);
]]

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

local clock, pace

function thread_init()
   clock, pace = ffi.new("rollout_time"), {}
   connection = sysbench.sql.driver():connect()
end

function thread_done()
   local lines = {}
   for tenth, count in pairs(pace) do lines[#lines + 1] = string.format("pace %d %d\n", tenth, count) end
   io.write(table.concat(lines))
   connection:disconnect()
end

function event()
   ask(sysbench.opt)
   ffi.C.gettimeofday(clock, nil)
   local tenth = tonumber(clock.seconds) * 10 + math.floor(tonumber(clock.microseconds) / 100000)
   pace[tenth] = (pace[tenth] or 0) + 1
end

function ask(opt)
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
