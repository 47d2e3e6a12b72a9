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

// gitSourceSpec returns a spec that is built of a repository, with further fields of its source and its build.
func gitSourceSpec(url, revision, extra string, build ...string) string {
	return fmt.Sprintf(`{"image": null, "source": {"git": {"url": %q, "revision": %q}%s}, "build": {%s}}`, url, revision, extra, strings.Join(build, ", "))
}
