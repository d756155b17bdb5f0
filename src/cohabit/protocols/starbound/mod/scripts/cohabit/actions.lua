-- What the player can do. An action returns its result, or a function that is called on every update with the time
-- since the last one and since the start, until it returns a result.
--
-- Scripts of the engine can walk, jump, warp, talk and change the inventory. They cannot press the fire button, so
-- what needs it is done another way where there is an honest one, and refused with a reason where there is none.

cohabit = cohabit or {}

local act = {}
cohabit.actions = act

local REACH = 5
local DIG_SECONDS = 4
local DIG_EVERY = 0.15
local NO_FIRE = "the engine gives scripts no way to press the fire button"
local EMOTES = { "Happy", "Sad", "Laugh", "Annoyed", "Oh", "OOOH", "Wink", "Sleep", "Shouting", "Blabbering", "Eat" }

local function done(message) return { success = true, message = message } end
local function failed(message) return { success = false, message = message } end

local function seconds(given, default)
  local number = tonumber(given) or default
  return math.max(0.1, math.min(10, number))
end

-- -- moving ------------------------------------------------------------------------------------------
-- Controls last for one update only, so they are set again on every update.
local function walk(direction, duration)
  local sign, from = direction == "left" and -1 or 1, mcontroller.position()
  mcontroller.controlMove(sign, true)
  return function(_, elapsed)
    if elapsed < duration then
      mcontroller.controlMove(sign, true)
      return nil
    end
    local moved = math.abs(world.distance(mcontroller.position(), from)[1])
    if moved < 0.25 then return failed("something is in the way to the " .. direction) end
    return done(string.format("walked %.1f tiles to the %s", moved, direction))
  end
end

function act.move(given, config)
  if given.direction ~= "left" and given.direction ~= "right" then
    return failed("direction must be left or right")
  end
  return walk(given.direction, seconds(given.seconds, config.moveSeconds))
end

function act.move_left(given, config) return walk("left", seconds(given.seconds, config.moveSeconds)) end

function act.move_right(given, config) return walk("right", seconds(given.seconds, config.moveSeconds)) end

function act.jump(given)
  if not mcontroller.canJump() then return failed("you cannot jump now: you do not stand on anything") end
  local sign = given.direction == "left" and -1 or given.direction == "right" and 1 or 0
  local from, highest = mcontroller.position(), mcontroller.position()[2]
  local function hold()
    if sign ~= 0 then mcontroller.controlMove(sign, true) end
  end
  mcontroller.controlJump()
  hold()
  return function(_, elapsed)
    local position = mcontroller.position()
    highest = math.max(highest, position[2])
    if elapsed < 0.4 then
      mcontroller.controlHoldJump()
      hold()
      return nil
    end
    if elapsed < 3 and not mcontroller.onGround() then
      hold()
      return nil
    end
    local moved = world.distance(position, from)
    return done(string.format("jumped %.1f tiles high, and are %.1f tiles to the %s", highest - from[2],
      math.abs(moved[1]), moved[1] < 0 and "left" or "right"))
  end
end

function act.drop()
  local from = mcontroller.position()[2]
  mcontroller.controlDown()
  return function(_, elapsed)
    if elapsed < 0.3 then
      mcontroller.controlDown()
      return nil
    end
    if elapsed < 3 and not mcontroller.onGround() then return nil end
    local fallen = from - mcontroller.position()[2]
    if fallen < 0.25 then return failed("there is no platform under you") end
    return done(string.format("dropped %.1f tiles", fallen))
  end
end

function act.wait(given, config)
  local duration = seconds(given.seconds, config.waitSeconds)
  return function(_, elapsed)
    return elapsed >= duration and done(string.format("waited %.1f seconds", duration)) or nil
  end
end

-- -- travel ------------------------------------------------------------------------------------------
-- A warp ends this script context, so its result is sent before the player leaves.
function act.warp(given)
  local places = { ship = "OwnShip", planet = "OrbitedWorld", outpost = "InstanceWorld:outpost" }
  local destination = given.destination
  if type(destination) ~= "string" or destination == "" then return failed("destination: where to?") end
  player.warp(places[destination] or destination, "beam")
  return done("warping to " .. destination)
end

function act.beam_up()
  if cohabit.onShip() then return failed("you are on your ship already") end
  player.warp("OwnShip", "beam")
  return done("beaming up to your ship")
end

function act.beam_down()
  if not cohabit.onShip() then return failed("you are not on your ship") end
  player.warp("OrbitedWorld", "beam")
  return done("beaming down to the planet")
end

-- -- things ------------------------------------------------------------------------------------------
local function inReach()
  local reach = player.interactRadius and player.interactRadius() or REACH
  local ids = world.entityQuery(mcontroller.position(), reach, { withoutEntityId = player.id(), order = "nearest" })
  local found = {}
  for _, id in ipairs(ids) do
    if world.isEntityInteractive(id) then found[#found + 1] = id end
  end
  return found
end

function act.interact()
  local reason = "nothing that can be used is within reach"
  for _, id in ipairs(inReach()) do
    local name = world.entityName(id) or world.entityType(id)
    if world.containerSize(id) then
      player.interact("OpenContainer", nil, id)
      return done("opened " .. name)
    end
    local kind = world.entityType(id) == "object" and world.getObjectParameter(id, "interactAction") or nil
    if kind then
      player.interact(kind, world.getObjectParameter(id, "interactData"), id)
      return done("used " .. name)
    end
    if player.lounge(id) then return done("sat down in " .. name) end
    reason = "scripts cannot talk to " .. name .. " or press its switch"
  end
  return failed(reason)
end

-- The matter manipulator is a beam that damages tiles, which scripts can do as well, with its own strength.
function act.use_tool(given, config)
  if not player.essentialItem("beamaxe") then return failed("you have no matter manipulator") end
  local direction = given.direction or (mcontroller.facingDirection() < 0 and "left" or "right")
  local tile = cohabit.neighbour(direction)
  local material = world.material(tile, "foreground")
  if not material then return failed("there is nothing to dig: " .. direction) end
  if world.isTileProtected(tile) then return failed("this place is protected; you cannot dig here") end
  local next_hit = 0
  return function(_, elapsed)
    if not world.material(tile, "foreground") then return done("dug out " .. material .. ": " .. direction) end
    if elapsed > DIG_SECONDS then return failed(material .. " is too hard for your matter manipulator") end
    if elapsed >= next_hit then
      next_hit = elapsed + DIG_EVERY
      world.damageTiles({ tile }, "foreground", mcontroller.position(), "beamish", config.tileDamage,
        config.harvestLevel, player.id())
    end
    return nil
  end
end

-- Only an admin may create projectiles: for everyone else that would be cheating.
local function shoot(config)
  if not player.isAdmin() then
    return failed("you cannot attack: " .. NO_FIRE .. ". Admins of the game can.")
  end
  local position = mcontroller.position()
  local aim = { mcontroller.facingDirection(), 0 }
  for _, id in ipairs(world.entityQuery(position, config.radius, { withoutEntityId = player.id(), order = "nearest" })) do
    if world.entityAggressive(id) then
      aim = world.distance(world.entityPosition(id), position)
      break
    end
  end
  world.spawnProjectile(config.adminProjectile, position, player.id(), aim, false)
  return done("fired to the " .. cohabit.direction(aim))
end

function act.attack(_, config) return shoot(config) end

function act.alt_attack(_, config) return shoot(config) end

function act.use_tech(given)
  local tech = player.equippedTech(given.slot)
  if not tech then return failed("you have no tech in the slot " .. tostring(given.slot)) end
  return failed("the engine gives scripts no way to trigger " .. tech)
end

-- -- items -------------------------------------------------------------------------------------------
local function slotOf(given)
  local slot = tonumber(given.slot)
  if not slot or slot < 1 or slot > 10 then return nil end
  return math.floor(slot)
end

local function inSlot(slot)
  local link = player.actionBarSlotLink(slot, "primary")
  local item = link and player.item(link)
  return item, link
end

function act.equip(given)
  local slot = slotOf(given)
  local item = slot and inSlot(slot)
  if not item then return failed("there is nothing in slot " .. tostring(given.slot)) end
  player.setSelectedActionBarSlot(slot)
  return done("you hold " .. item.name)
end

function act.unequip(given)
  if player.selectedActionBarSlot() ~= slotOf(given) then
    return failed("you do not hold the item of slot " .. tostring(given.slot))
  end
  player.setSelectedActionBarSlot(nil)
  return done("you put it away")
end

-- What the game does when a player eats something: the item is gone, and its effects apply.
local function consume(name)
  if root.itemType(name) ~= "consumable" then return failed(name .. " cannot be consumed") end
  if not player.consumeItem({ name = name, count = 1 }) then return failed("you have no " .. name) end
  local item = root.itemConfig({ name = name, count = 1 }).config
  if item.foodValue and status.isResource("food") then status.giveResource("food", item.foodValue) end
  for _, effects in ipairs(item.effects or {}) do
    status.addEphemeralEffects(effects)
  end
  return done("you consumed " .. name)
end

function act.consume(given)
  if type(given.item) ~= "string" then return failed("item: which one?") end
  return consume(given.item)
end

function act.use_item(given)
  local slot = slotOf(given)
  local item = slot and inSlot(slot)
  if not item then return failed("there is nothing in slot " .. tostring(given.slot)) end
  local kind = root.itemType(item.name)
  if kind == "consumable" then return consume(item.name) end
  player.setSelectedActionBarSlot(slot)
  if kind ~= "material" then return failed("you hold " .. item.name .. ", but " .. NO_FIRE) end
  local tile = cohabit.neighbour(mcontroller.facingDirection() < 0 and "left" or "right")
  if world.isTileProtected(tile) then return failed("this place is protected; you cannot build here") end
  local material = root.itemConfig({ name = item.name, count = 1 }).config.materialName or item.name
  if not world.placeMaterial(tile, "foreground", material) then
    return failed("there is no place for " .. item.name .. " beside you")
  end
  player.consumeItem({ name = item.name, count = 1 })
  return done("you placed " .. item.name)
end

function act.drop_item(given)
  local slot = slotOf(given)
  local item, link = nil, nil
  if slot then item, link = inSlot(slot) end
  if not item then return failed("there is nothing in slot " .. tostring(given.slot)) end
  player.setItem(link, nil)
  world.spawnItem(item, mcontroller.position())
  return done(string.format("you dropped %d %s", item.count or 1, item.name))
end

-- -- crafting ----------------------------------------------------------------------------------------
-- What can be made by hand, and at the crafting stations within reach.
local function craftingGroups()
  local groups = { "plain" }
  for _, id in ipairs(inReach()) do
    local data = world.entityType(id) == "object" and world.getObjectParameter(id, "interactData") or nil
    if type(data) == "table" then
      for _, group in ipairs(data.filter or {}) do groups[#groups + 1] = group end
    end
  end
  return groups
end

function act.craft(given)
  for _, recipe in ipairs(player.availableRecipes(craftingGroups())) do
    if recipe.output.name == given.item and player.blueprintKnown(recipe.output) then
      for _, input in ipairs(recipe.input) do player.consumeItem(input) end
      for currency, amount in pairs(recipe.currencyInputs or {}) do player.consumeCurrency(currency, amount) end
      player.giveItem(recipe.output)
      return done(string.format("you made %d %s", recipe.output.count or 1, recipe.output.name))
    end
  end
  return failed("you cannot make " .. tostring(given.item)
    .. ": the blueprint, the materials or the crafting station are missing")
end

function act.open_crafting()
  player.interact("OpenCraftingInterface",
    { config = "/interface/windowconfig/crafting.config", filter = { "plain" } }, player.id())
  return done("the crafting window is open on the screen; craft makes an item directly")
end

-- -- people and quests -------------------------------------------------------------------------------
function act.say(given, config)
  if type(given.message) ~= "string" or given.message == "" then return failed("message: what do you want to say?") end
  if given.message:sub(1, 1) == "/" then return failed("a message must not begin with /: that would be a command") end
  chat.send(given.message, config.chatMode, true)
  return done("you said it")
end

function act.emote(given)
  local wanted = tostring(given.emote):lower()
  if wanted == "dance" then
    player.dance("wiggledance")
    return done("you dance")
  end
  for _, emote in ipairs(EMOTES) do
    if emote:lower() == wanted then
      player.emote(emote)
      return done("you show: " .. wanted)
    end
  end
  return failed("there is no emote " .. wanted .. "; there are: dance, " .. table.concat(EMOTES, ", "):lower())
end

function act.check_quest()
  local quests = cohabit.quests()
  if #quests == 0 then return done("you have no quests") end
  local lines = {}
  for _, quest in ipairs(quests) do
    lines[#lines + 1] = quest.id .. ": " .. quest.description .. (quest.progress and " (" .. quest.progress .. ")" or "")
  end
  return done(table.concat(lines, "\n"))
end

function act.track_quest(given)
  if not player.hasQuest(given.quest_id) then return failed("you have no quest " .. tostring(given.quest_id)) end
  if player.trackedQuestId() ~= given.quest_id then player.setTrackedQuest(given.quest_id) end
  return done("you track " .. given.quest_id)
end

function act.look(_, config)
  local near = {}
  for _, entity in ipairs(cohabit.entities(config.radius)) do
    near[#near + 1] = string.format("%s, %.1f tiles %s", entity.name or entity.type, entity.distance, entity.direction)
  end
  return done(#near > 0 and "around you: " .. table.concat(near, "; ") or "there is nothing around you")
end
