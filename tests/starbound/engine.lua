-- A stand-in for the tables that the OpenStarbound client gives to scripts of a player, with a small flat world.
-- It has only functions that the engine has: calling any other one is an error, as it would be in the game.

local py = ...

local function strict(name, functions)
  return setmetatable(functions, {
    __index = function(_, key) error("the engine has no " .. name .. "." .. tostring(key), 2) end,
  })
end

local TYPE_HINT = {}
function jarray() return setmetatable({}, { __typehint = 1, hint = TYPE_HINT }) end
function jobject() return setmetatable({}, { __typehint = 2, hint = TYPE_HINT }) end

-- -- JSON, as the engine writes it: an empty table without a hint is an object -------------------------
local function encode(value)
  local kind = type(value)
  if kind == "nil" then return "null" end
  if kind == "boolean" then return tostring(value) end
  if kind == "number" then
    if math.type(value) == "integer" then return tostring(value) end
    return string.format("%.17g", value):gsub("^(-?%d+)$", "%1.0")
  end
  if kind == "string" then return py.quote(value) end
  assert(kind == "table", "cannot write a " .. kind .. " as JSON")
  local hint = (getmetatable(value) or {}).__typehint
  local parts = {}
  if hint == 1 or (hint == nil and #value > 0) then
    for i, item in ipairs(value) do parts[i] = encode(item) end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for key, item in pairs(value) do
    assert(type(key) == "string", "a key of a JSON object must be a string")
    parts[#parts + 1] = py.quote(key) .. ":" .. encode(item)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

sb = strict("sb", {
  printJson = function(value) return (encode(value)) end,
  parseJson = function(text) return py.parse(text) end,
  stripEscapeCodes = function(text) return (text:gsub("%^[^;]*;", "")) end,
  logInfo = function(form, ...) py.log(string.format(form, ...)) end,
  logWarn = function(form, ...) py.log(string.format((form:gsub("%%s", "%%s")), ...)) end,
  logError = function(form, ...) py.log(string.format(form, ...)) end,
})
script = strict("script", { setUpdateDelta = function() end })
chat = strict("chat", {
  send = function(text, mode, speak)
    assert(type(text) == "string" and (mode == "Local" or mode == "Broadcast" or mode == "Party"))
    game.said[#game.said + 1] = text
  end,
})

-- -- the world: solid below y = 0, and what a test puts there ----------------------------------------
game = {
  position = { 10.5, 2.5 }, velocity = 0, facing = 1, resources = {}, said = {}, tiles = {}, entities = {}, warps = {},
  bags = { mainBag = {}, foodBag = {} }, bar = {}, selected = nil, admin = false, effects = {}, quests = {},
  tracked = nil, worldId = "CelestialWorld:1", emotes = {}, drops = {}, shots = {}, recipes = {}, opened = {},
  protected = false, hardness = {},
}
for name, values in pairs({ health = { 75, 100 }, energy = { 40, 100 }, food = { 30, 70 } }) do
  game.resources[name] = values
end
local BOX = { -0.75, -2.5, 0.75, 1.2 }
local controls = {}

local function key(tile) return math.floor(tile[1]) .. "," .. math.floor(tile[2]) end

local function materialAt(tile)
  local placed = game.tiles[key(tile)]
  if placed ~= nil then return placed end
  return math.floor(tile[2]) < 0 and "dirt"
end

local function solidAt(x, y)
  local found = materialAt({ x, y })
  return found and found ~= "platform"
end

local function vec(a, b) return { a, b } end

world = strict("world", {
  type = function() return "lush" end,
  terrestrial = function() return true end,
  underground = function(p) return p[2] < 0 end,
  timeOfDay = function() return 0.25 end,
  distance = function(a, b) return vec(a[1] - b[1], a[2] - b[2]) end,
  magnitude = function(a, b) return math.sqrt((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2) end,
  material = function(tile, layer)
    assert(layer == "foreground")
    return materialAt(tile)
  end,
  liquidAt = function() return nil end,
  pointTileCollision = function(tile) return solidAt(tile[1], tile[2]) and true or false end,
  isTileProtected = function() return game.protected end,
  damageTiles = function(tiles, layer, source, kind, amount, level, id)
    assert(layer == "foreground" and kind == "beamish" and type(amount) == "number" and source and level and id)
    local tile = tiles[1]
    local left = (game.hardness[key(tile)] or 5) - amount
    game.hardness[key(tile)] = left
    if left <= 0 then game.tiles[key(tile)] = false end
    return true
  end,
  placeMaterial = function(tile, layer, name)
    if materialAt(tile) then return false end
    game.tiles[key(tile)] = name
    return true
  end,
  entityQuery = function(position, radius, options)
    assert(type(radius) == "number")
    local found = {}
    for id, entity in pairs(game.entities) do
      if world.magnitude(entity.position, position) <= radius then found[#found + 1] = id end
    end
    assert(options.order == "nearest")
    table.sort(found, function(a, b)
      return world.magnitude(game.entities[a].position, position) < world.magnitude(game.entities[b].position, position)
    end)
    return found
  end,
  entityType = function(id) return game.entities[id] and game.entities[id].type end,
  entityName = function(id) return game.entities[id] and game.entities[id].name end,
  entityPosition = function(id) return game.entities[id] and game.entities[id].position end,
  entityAggressive = function(id) return game.entities[id].aggressive or false end,
  entityCanDamage = function(id) return game.entities[id].aggressive or false end,
  isEntityInteractive = function(id) return game.entities[id].interactive end,
  containerSize = function(id) return game.entities[id].size end,
  getObjectParameter = function(id, name) return game.entities[id][name] end,
  spawnItem = function(item, position)
    assert(position[1])
    game.drops[#game.drops + 1] = item
    return 99
  end,
  spawnProjectile = function(name, position, id, aim)
    game.shots[#game.shots + 1] = { name, aim[1], aim[2] }
    return 98
  end,
})

mcontroller = strict("mcontroller", {
  position = function() return vec(game.position[1], game.position[2]) end,
  boundBox = function() return BOX end,
  facingDirection = function() return game.facing end,
  onGround = function() return game.grounded end,
  canJump = function() return game.grounded end,
  liquidMovement = function() return false end,
  controlMove = function(direction, run)
    assert(type(direction) == "number" and type(run) == "boolean")
    controls.move = direction
  end,
  controlJump = function() controls.jump = true end,
  controlHoldJump = function() controls.hold = true end,
  controlDown = function() controls.down = true end,
})

status = strict("status", {
  resource = function(name) return game.resources[name][1] + 0.0 end,
  resourceMax = function(name) return game.resources[name][2] + 0.0 end,
  isResource = function(name) return game.resources[name] ~= nil end,
  giveResource = function(name, amount)
    game.resources[name][1] = math.min(game.resources[name][2], game.resources[name][1] + amount)
  end,
  addEphemeralEffects = function(effects)
    for _, effect in ipairs(effects) do game.effects[#game.effects + 1] = effect.effect or effect end
  end,
  activeUniqueStatusEffectSummary = function()
    local found = {}
    for i, name in ipairs(game.effects) do found[i] = { name, 0.5 } end
    return found
  end,
})

local function itemAt(slot)
  if type(slot) ~= "table" then return nil end
  return game.bags[slot[1]] and game.bags[slot[1]][slot[2]]
end

local function take(item)
  for _, bag in pairs(game.bags) do
    for slot, held in pairs(bag) do
      if held.name == item.name and held.count >= (item.count or 1) then
        held.count = held.count - (item.count or 1)
        if held.count == 0 then bag[slot] = nil end
        return item
      end
    end
  end
  return nil
end

player = strict("player", {
  id = function() return 1 end,
  uniqueId = function() return "0123456789abcdef" end,
  name = function() return "^blue;Ann^reset;" end,
  isAdmin = function() return game.admin end,
  worldId = function() return game.worldId end,
  ownShipWorldId = function() return "ClientShipWorld:1" end,
  warp = function(to, animation)
    assert(type(to) == "string" and animation == "beam")
    game.warps[#game.warps + 1] = to
  end,
  interactRadius = function() return 5 end,
  interact = function(kind, data, id)
    assert(type(kind) == "string" and id)
    game.opened[#game.opened + 1] = kind
  end,
  lounge = function(id) return game.entities[id].seat or false end,
  itemBagSize = function(bag) return game.bags[bag] and 4 or nil end,
  item = itemAt,
  setItem = function(slot, item) game.bags[slot[1]][slot[2]] = item end,
  consumeItem = take,
  consumeCurrency = function() return true end,
  giveItem = function(item) game.bags.mainBag[3] = { name = item.name, count = item.count } end,
  actionBarSlotLink = function(slot, hand)
    assert(math.type(slot) == "integer" and hand == "primary")
    return game.bar[slot]
  end,
  selectedActionBarSlot = function() return game.selected end,
  setSelectedActionBarSlot = function(slot) game.selected = slot end,
  primaryHandItem = function() return game.selected and itemAt(game.bar[game.selected]) end,
  essentialItem = function(name) return name == "beamaxe" and { name = "beamaxe", count = 1 } or nil end,
  equippedTech = function(slot)
    assert(slot == "head" or slot == "body" or slot == "legs")
    return slot == "legs" and "doublejump" or nil
  end,
  availableRecipes = function(groups)
    assert(groups[1] == "plain")
    return game.recipes
  end,
  blueprintKnown = function() return true end,
  emote = function(name) game.emotes[#game.emotes + 1] = name end,
  dance = function(name) game.emotes[#game.emotes + 1] = name end,
  questIds = function()
    local ids = {}
    for id in pairs(game.quests) do ids[#ids + 1] = id end
    return ids
  end,
  hasQuest = function(id) return game.quests[id] ~= nil end,
  quest = function(id) return game.quests[id] end,
  questState = function(id) return game.quests[id].state end,
  questObjectives = function(id) return game.quests[id].objectives end,
  trackedQuestId = function() return game.tracked end,
  setTrackedQuest = function(id) game.tracked = id end,
})

root = strict("root", {
  assetJson = function(path) return py.asset(path) end,
  getConfiguration = function(name) return py.configuration(name) end,
  itemType = function(name) return (game.kinds or {})[name] or "generic" end,
  itemConfig = function(item) return { config = (game.configs or {})[item.name] or {} } end,
})

-- -- http: promises that finish only when they are asked ----------------------------------------------
local function promise(request)
  return {
    finished = function() return py.finished(request) end,
    succeeded = function() return py.succeeded(request) end,
    result = function() return py.result(request) end,
    error = function() return py.problem(request) end,
  }
end

http = strict("http", {
  available = function() return py.http_enabled() end,
  isTrusted = function(domain) return py.is_trusted(domain) end,
  createRequest = function(method, url, options)
    assert(type(method) == "string" and type(url) == "string" and type(options) == "table")
    local names, values = {}, {}
    for name, value in pairs(options.headers or {}) do
      names[#names + 1], values[#values + 1] = name, value
    end
    assert(options.body == nil or type(options.body) == "string", "the body must be a string")
    return promise(py.send(method, url, options.body, table.concat(names, "\n"), table.concat(values, "\n")))
  end,
})

-- -- one tick -----------------------------------------------------------------------------------------
local loaded = {}
function require(path)
  if not loaded[path] then
    loaded[path] = true
    py.load(path)
  end
end

local function blocked(x, y)
  return solidAt(x + BOX[1], y) or solidAt(x + BOX[3], y) or solidAt(x + BOX[1], y - 2) or solidAt(x + BOX[3], y - 2)
end

local function floorAt(x, y, down)
  local under = materialAt({ x, y + BOX[2] - 0.01 })
  return under and not (down and under == "platform")
end

local function move(dt)
  local x, y = game.position[1], game.position[2]
  if controls.move then
    game.facing = controls.move < 0 and -1 or 1
    local to = x + game.facing * 8 * dt
    if not blocked(to, y) then x = to end
  end
  if controls.jump and game.grounded then game.velocity = 20 end
  local grounded = floorAt(x, y, controls.down) and game.velocity <= 0
  if not grounded then
    game.velocity = game.velocity - 60 * dt
    y = y + game.velocity * dt
    if game.velocity < 0 and floorAt(x, y, controls.down) then
      y = math.floor(y + BOX[2] - 0.01) + 1 - BOX[2]
      game.velocity, grounded = 0, true
    end
  else
    game.velocity = 0
  end
  game.position, game.grounded = { x, y }, grounded
end

-- The engine clears the controls before every script update.
function tick(dt)
  controls = {}
  update(dt)
  move(dt)
end

game.grounded = true
