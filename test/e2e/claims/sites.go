package claims

import (
	"strings"
)

// withSceneName puts the scene's own name into a value.
func withSceneName(value any, name string) any {
	switch v := value.(type) {
	case string:
		return strings.ReplaceAll(v, "SCENE", name)
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[key] = withSceneName(value, name)
		}
		return out
	}
	return value
}
