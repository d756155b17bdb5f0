"""A fixed map of the world: regions of ours, joined where land or a short sea way joins them."""

BORDERS = """
Arctic Canada: Pacific Coast, Great Lakes, Scandinavia
Pacific Coast: Great Lakes, Deep South, Mesoamerica, Siberia
Great Lakes: Deep South, British Isles
Deep South: Mesoamerica
Mesoamerica: Northern Andes
Northern Andes: Amazonia, Southern Cone
Amazonia: Southern Cone, Guinea Coast
British Isles: Scandinavia, Gaul
Scandinavia: Gaul, Volga
Gaul: Iberia, Danube
Iberia: Maghreb
Danube: Anatolia, Volga
Volga: Anatolia, Siberia, Turkestan
Maghreb: Sahel, Nile Valley
Sahel: Guinea Coast, Nile Valley, Congo Basin
Guinea Coast: Congo Basin
Nile Valley: Anatolia, Arabia, East Africa
Congo Basin: East Africa, Cape
East Africa: Cape, Arabia
Anatolia: Arabia, Persia
Arabia: Persia
Persia: Turkestan, Hindustan
Turkestan: Mongolia, Hindustan
Siberia: Mongolia, Japan
Mongolia: Yellow River
Hindustan: Mekong
Yellow River: Mekong, Japan
Mekong: Sunda Islands
Sunda Islands: Australia, Japan
Australia: Cape
"""


def _both_ways(borders: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in borders.strip().splitlines():
        name, _, neighbours = line.partition(": ")
        for neighbour in neighbours.split(", "):
            found.setdefault(name, []).append(neighbour)
            found.setdefault(neighbour, []).append(name)
    return {name: sorted(dict.fromkeys(found[name])) for name in sorted(found)}


WORLD: dict[str, list[str]] = _both_ways(BORDERS)
