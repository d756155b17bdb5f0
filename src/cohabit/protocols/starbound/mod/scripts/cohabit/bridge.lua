-- The game's side of the Cohabit bridge, for the OpenStarbound client. It runs in a script context of the player.
--
-- The client's `http` is asynchronous, and a request finishes only when its promise is asked. So this script keeps one
-- open poll, asks it on every update, lets one command run for as many updates as it takes, and posts its result.

require "/scripts/cohabit/view.lua"
require "/scripts/cohabit/actions.lua"

cohabit = cohabit or {}

local config       -- the settings; see cohabit_bridge.config
local polling      -- the promise of the open poll
local posting = {} -- promises of results that are on their way
local running      -- the action in progress: {id, step, elapsed}
local pause = 0    -- seconds until the next poll

local function settings()
  local found = root.assetJson("/cohabit_bridge.config")
  local ok, own = pcall(root.getConfiguration, "cohabitBridge") -- starbound.config of this installation comes first
  if ok and type(own) == "table" then
    for name, value in pairs(own) do found[name] = value end
  end
  found.url = found.url:gsub("/+$", "")
  return found
end

local function escaped(text)
  return (tostring(text):gsub("[^%w%-_%.~]", function(char) return string.format("%%%02X", char:byte()) end))
end

local function request(method, path, body)
  local options = { headers = { ["Content-Type"] = "application/json" }, timeout = config.requestTimeout }
  if config.token ~= "" then options.headers["Authorization"] = "Bearer " .. config.token end
  if body then options.body = sb.printJson(body) end
  return http.createRequest(method, config.url .. path, options)
end

local function playerId()
  return config.playerId ~= "" and config.playerId or player.uniqueId()
end

local function pollPath(query)
  return "/poll?" .. query .. "&player_id=" .. escaped(playerId())
end

local function poll()
  local name = sb.stripEscapeCodes and sb.stripEscapeCodes(player.name()) or player.name()
  polling = request("GET", pollPath("wait=" .. escaped(config.pollSeconds) .. "&name=" .. escaped(name)
    .. "&version=OpenStarbound"))
end

local function answer(id, result)
  posting[#posting + 1] = request("POST", "/result", { id = id, result = result })
end

local function failed(message)
  return { success = false, message = message }
end

-- Ends the action in progress. The view goes along with the result, which saves a request.
local function finish(result)
  local id = running.id
  running = nil
  local ok, view = pcall(cohabit.view, config)
  if ok then result.observation = view end
  answer(id, result)
end

local function start(command)
  if command.type == "observe" then
    answer(command.id, cohabit.view(config))
  elseif command.type == "reset" then
    if running then finish(failed("stopped by a reset")) end
    answer(command.id, cohabit.view(config))
  elseif command.type == "act" then
    if running then finish(failed("stopped by the next action")) end
    local begin = cohabit.actions[command.action]
    if not begin then
      answer(command.id, failed("the mod does not know the action " .. tostring(command.action)))
      return
    end
    running = { id = command.id, elapsed = 0 }
    -- An action returns its result, or a function that is called on every update until it returns one.
    local result = begin(command.parameters or {}, config)
    if type(result) == "function" then running.step = result else finish(result) end
  end
end

-- A command that fails must be answered too; the agent would wait for it otherwise.
local function guarded(id, work, ...)
  local ok, problem = pcall(work, ...)
  if ok then return end
  sb.logWarn("cohabit: %s", problem)
  if running and running.id == id then running = nil end
  answer(id, failed("the mod failed: " .. tostring(problem)))
end

local function received(response)
  if response.status ~= 200 then
    sb.logWarn("cohabit: the bridge answered with status %s: %s", response.status, response.body)
    pause = config.retrySeconds
    return
  end
  local ok, command = pcall(sb.parseJson, response.body)
  if not ok or type(command) ~= "table" then
    sb.logWarn("cohabit: the bridge sent something that is not JSON")
    pause = config.retrySeconds
  elseif command.id then
    guarded(command.id, start, command)
  end
end

function init()
  config = settings()
  if script then script.setUpdateDelta(1) end
  if not (http and http.available()) then
    sb.logError("cohabit: http is switched off. Set safe.luaHttp.enabled to true in starbound.config.")
    config = nil
  end
end

function update(dt)
  if not config then return end
  if running then
    running.elapsed = running.elapsed + dt
    local id = running.id
    guarded(id, function()
      local result = running.step(dt, running.elapsed)
      if result then finish(result) end
    end)
  end
  for i = #posting, 1, -1 do
    if posting[i]:finished() then
      local sent = table.remove(posting, i)
      if not sent:succeeded() then sb.logWarn("cohabit: a result was not delivered: %s", sent:error()) end
    end
  end
  if pause > 0 then
    pause = pause - dt
  elseif not polling then
    poll()
  elseif polling:finished() then
    local done = polling
    polling = nil
    if done:succeeded() then
      received(done:result())
    else
      sb.logWarn("cohabit: no connection to the bridge at %s: %s", config.url, done:error())
      pause = config.retrySeconds
    end
  end
end

-- The player leaves the world: by a warp, by death, or at the end of the game. The open poll would take the next command
-- to nobody, so the bridge is told to end it.
function uninit()
  if not config then return end
  if running then pcall(finish, { success = true, message = "you left this world during the action" }) end
  if polling and polling:finished() and polling:succeeded() then
    local ok, command = pcall(sb.parseJson, polling:result().body)
    if ok and type(command) == "table" and command.id then
      answer(command.id, failed("you were leaving this world; nothing was done"))
    end
  elseif polling then
    request("GET", pollPath("end=1"))
  end
end
