package claims

import (
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/scene"
)

func writeYAMLFile(s *scene.Scene, file string, o *unstructured.Unstructured) {
	s.T.Helper()
	b, err := yaml.Marshal(o.Object)
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	s.Must(err)
}

// transitionEvents returns the messages of the events about a deployment, sorted.
func transitionEvents(s *scene.Scene, o *unstructured.Unstructured) []string {
	s.T.Helper()
	l := &corev1.EventList{}
	s.Must(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace)))
	out := []string{}
	for _, e := range l.Items {
		if strings.HasPrefix(e.Message, "Transitioned ") && e.InvolvedObject.UID == o.GetUID() {
			phases, _, _ := strings.Cut(e.Message, ": ") // Why follows.
			out = append(out, phases)
		}
	}
	slices.Sort(out)
	return out
}
