package applications

import (
	"fmt"
	"strings"
)

func variablesOf(n int) string {
	all := make([]string, 0, n)
	for i := range n {
		all = append(all, fmt.Sprintf(`{"name": "A%d"}`, i))
	}
	return strings.Join(all, ",")
}
