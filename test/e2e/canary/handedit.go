package canary

import (
	"fmt"
	"maps"
	"strings"
)

// filesWithWeights returns the files of the repository that divide requests by these weights.
func (y *followedRelease) filesWithWeights(weights ...int) map[string]string {
	y.Helper()
	all, err := cp.Git.Files(y.Context(), y.Namespace, "main")
	y.requireNoError(err)
	maps.DeleteFunc(all, func(_, content string) bool {
		isRoute := strings.Contains(content, "kind: HTTPRoute")
		for _, w := range weights {
			isRoute = isRoute && strings.Contains(content, fmt.Sprintf("weight: %d\n", w))
		}
		return !isRoute
	})
	return all
}

// editsWeights commits other weights to the files that divide requests, as a user does.
func (y *followedRelease) editsWeights(files map[string]string, source, target []int) {
	y.Helper()
	var swaps []string
	for i := range source {
		swaps = append(swaps, fmt.Sprintf("weight: %d\n", source[i]), fmt.Sprintf("weight: %d\n", target[i]))
	}
	edited := map[string]string{}
	for name, content := range files {
		edited[name] = strings.NewReplacer(swaps...).Replace(content) // At once: a weight may be both an old and a new one.
	}
	_, err := cp.Git.Commit(y.Context(), y.Namespace, "main", edited, "Weights by hand")
	y.requireNoError(err)
}
