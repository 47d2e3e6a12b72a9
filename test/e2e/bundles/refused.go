package bundles

import (
	"fmt"
	"strings"
)

func packageListJSON(n int) string {
	all := make([]string, 0, n)
	for i := range n {
		all = append(all, fmt.Sprintf(`{"name": "p%d", "deployment": {}}`, i))
	}
	return strings.Join(all, ",")
}
