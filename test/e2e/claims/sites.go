package claims

import (
	"strings"
)

// named puts the scene's own name into a value.
func named(value any, name string) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "SCENE", name)
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[key] = named(value, name)
		}
		return out
	}
	return value
}
