package render

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Uses say what a Blueprint has for an intent to fill.
type Uses struct {
	// Values are read: a kustomization lists intent.yaml.
	Values bool

	// Keys of the values that replacements copy, sorted.
	Keys []string

	// Whole says that more than single values is read: the ConfigMap intent as such.
	Whole bool

	// Replicas of the intent can be followed: there is a workload of a kind that has replicas.
	Replicas bool

	// Image is named by ImageIntent somewhere.
	Image bool

	// Workload is marked with LabelWorkload somewhere.
	Workload bool

	// Workloads that could be marked, as "<file>: <kind> <name>", in the order in which they are read.
	Workloads []string
}

// intentImage is what kustomize takes for an image named ImageIntent.
var intentImage = regexp.MustCompile("^" + ImageIntent + "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$")

// escapedWorkload is LabelWorkload as it is written in a path of a JSON patch.
const escapedWorkload = "intentplane.dev~1workload"

// look at the values of a file, whose aliases stand for nothing that is not in it. It sees more than there is rather than less: what it
// sees only lets kustomize look closer.
func (u *Uses) look(n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			u.field(n.Content[i].Value, resolve(n.Content[i+1]))
		}
	case yaml.ScalarNode:
		u.Workload = u.Workload || strings.Contains(n.Value, LabelWorkload) || strings.Contains(n.Value, escapedWorkload)
	}
	for _, c := range n.Content {
		u.look(c)
	}
}

// field is one that gives a name to an image: of a container, of a volume, of a kustomization's images, or of a patch or a replacement.
func (u *Uses) field(key string, value *yaml.Node) {
	if slices.Contains([]string{"image", "reference", "newName", "value", "sourceValue"}, key) {
		u.Image = u.Image || intentImage.MatchString(value.Value)
	}
}

// object remembers a workload.
func (u *Uses) object(file string, n *yaml.Node) {
	kind := field(n, "kind")
	if !slices.Contains(strings.Split(kindsWithPods+"|"+kindsWithJobs, "|"), kind) || n.Kind != yaml.MappingNode {
		return
	}
	u.Replicas = u.Replicas || slices.Contains(strings.Split(kindsWithReplicas, "|"), kind)
	if name := nameOf(n); name != "" {
		u.Workloads = append(u.Workloads, file+": "+kind+" "+name)
	}
}
