package disruption

import (
	"fmt"
	"strings"

	"github.com/intentplane/intentplane/test/scene"
)

// conditionLines returns the conditions of all objects of a kind, each as "name Type=Status Type=Status", sorted as kubectl does.
func conditionLines(s *scene.Scene, kind string, types ...string) []string {
	s.T.Helper()
	path := &strings.Builder{}
	for _, typ := range types {
		fmt.Fprintf(path, ` %s={.status.conditions[?(@.type==%q)].status}`, typ, typ)
	}
	return outputLines(s.Run("get", kind, "-o", "jsonpath={range .items[*]}{.metadata.name}"+path.String()+`{"\n"}{end}`))
}

func outputLines(out string) []string {
	return strings.Split(strings.TrimSpace(out), "\n")
}

// answerOfCanI returns the output of kubectl auth can-i, which fails if the user has no permission.
func answerOfCanI(s *scene.Scene, user string, args []string) string {
	if !strings.Contains(user, ":") {
		user = s.Namespace + "-" + user
	}
	out, _ := s.Kubectl(s.T.Context(), append([]string{"auth", "can-i", "-n", s.Namespace, "--as", user}, args...)...)
	return strings.TrimSpace(out)
}
