-- What the player sees, in the form that the bridge expects.

cohabit = cohabit or {}

local DIRECTIONS = { { "left", -1, 0 }, { "right", 1, 0 }, { "above", 0, 1 }, { "below", 0, -1 } }
local SEEN = { "player", "npc", "monster", "object", "itemDrop", "plant", "vehicle" }
local SOLID = { "Null", "Block", "Dynamic", "Slippery" }

-- An empty table of Lua would become an object; the bridge accepts that where a list belongs.
local function list() return jarray and jarray() or {} end

local function rounded(number) return math.floor(number * 10 + 0.5) / 10 end

local function plain(text)
  if text == nil then return nil end
  return sb.stripEscapeCodes and sb.stripEscapeCodes(text) or text
end

-- The direction in which something lies: the larger part of the distance decides.
function cohabit.direction(offset)
  if math.abs(offset[1]) >= math.abs(offset[2]) then return offset[1] < 0 and "left" or "right" end
  return offset[2] < 0 and "below" or "above"
end

-- The tile beside, above or below the player's feet and head.
function cohabit.neighbour(direction)
  local position, box = mcontroller.position(), mcontroller.boundBox()
  if direction == "left" then return { math.floor(position[1] + box[1] - 0.5), math.floor(position[2]) } end
  if direction == "right" then return { math.floor(position[1] + box[3] + 0.5), math.floor(position[2]) } end
  if direction == "above" then return { math.floor(position[1]), math.floor(position[2] + box[4] + 0.5) } end
  return { math.floor(position[1]), math.floor(position[2] + box[2] - 0.5) }
end

local function stateOf(id, kind)
  if kind ~= "monster" and kind ~= "npc" and kind ~= "player" then return nil end
  if world.entityCanDamage(id, player.id()) and (kind == "player" or world.entityAggressive(id)) then
    return "hostile"
  end
  return "friendly"
end

function cohabit.entities(radius)
  local position = mcontroller.position()
  local found = list()
  local ids = world.entityQuery(position, radius,
    { withoutEntityId = player.id(), includedTypes = SEEN, order = "nearest" })
  for _, id in ipairs(ids) do
    local kind, place = world.entityType(id), world.entityPosition(id)
    if kind and place then
      local offset = world.distance(place, position)
      found[#found + 1] = {
        type = kind,
        name = plain(world.entityName(id)),
        distance = rounded(world.magnitude(place, position)),
        direction = cohabit.direction(offset),
        state = stateOf(id, kind),
        interactable = world.isEntityInteractive(id) or false,
      }
    end
  end
  return found
end

local function terrain()
  local found = list()
  for _, direction in ipairs(DIRECTIONS) do
    local tile = cohabit.neighbour(direction[1])
    local material, liquid = world.material(tile, "foreground"), world.liquidAt(tile)
    local kind = "air"
    if material == nil then
      kind = "unknown"
    elseif material then
      kind = material
    elseif liquid then
      kind = "liquid"
    end
    found[#found + 1] =
      { type = kind, direction = direction[1], passable = not world.pointTileCollision(tile, SOLID) }
  end
  return found
end

local function inventory(bags)
  local found = jobject and jobject() or {}
  for _, bag in ipairs(bags) do
    for slot = 0, (player.itemBagSize(bag) or 0) - 1 do
      local item = player.item({ bag, slot })
      if item and item.name then found[item.name] = (found[item.name] or 0) + (item.count or 1) end
    end
  end
  return found
end

local function effects()
  local found = list()
  for _, effect in ipairs(status.activeUniqueStatusEffectSummary()) do
    found[#found + 1] = { name = effect[1] }
  end
  return found
end

function cohabit.quests()
  local found = list()
  local tracked = player.trackedQuestId and player.trackedQuestId()
  for _, id in ipairs(player.questIds()) do
    if player.questState(id) == "Active" then
      local done, open = 0, {}
      local objectives = player.questObjectives(id) or {}
      for _, objective in ipairs(objectives) do
        if objective[2] then done = done + 1 else open[#open + 1] = plain(objective[1]) end
      end
      local known = player.quest(id)
      local title = known and known.title and plain(known.title) or id
      found[#found + 1] = {
        id = id,
        description = #open > 0 and title .. ": " .. table.concat(open, "; ") or title,
        type = id == tracked and "main" or "side",
        progress = #objectives > 0 and done .. "/" .. #objectives or nil,
      }
    end
  end
  return found
end

local function place()
  if cohabit.onShip() then return "on your ship" end
  local position = mcontroller.position()
  local what = mcontroller.liquidMovement() and "swimming" or mcontroller.onGround() and "standing" or "in the air"
  if world.terrestrial and world.terrestrial() then
    return what .. (world.underground(position) and ", underground" or ", on the surface")
  end
  return what
end

function cohabit.onShip()
  return player.worldId() == player.ownShipWorldId()
end

function cohabit.view(config)
  local position = mcontroller.position()
  local held = player.primaryHandItem()
  local view = {
    health = rounded(status.resource("health")),
    max_health = rounded(status.resourceMax("health")),
    energy = rounded(status.resource("energy")),
    max_energy = rounded(status.resourceMax("energy")),
    position = { rounded(position[1]), rounded(position[2]) },
    world_name = world.type(),
    location_description = place(),
    inventory = inventory(config.bags),
    nearby_entities = cohabit.entities(config.radius),
    nearby_terrain = terrain(),
    effects = effects(),
    quests = cohabit.quests(),
    time_of_day = world.timeOfDay() < 0.5 and "day" or "night",
    facing = mcontroller.facingDirection() < 0 and "left" or "right",
    holding = held and held.name or nil,
  }
  if status.isResource("food") then
    view.food, view.max_food = rounded(status.resource("food")), rounded(status.resourceMax("food"))
  end
  return view
end
