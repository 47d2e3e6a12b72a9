package guard

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/intentplane/intentplane/apis/track"
)

// ImageIntent is the name of an image, with any tag, that the intent's image replaces.
const ImageIntent = "intent"

// Kinds of workloads, as patterns of kustomize.
const (
	// KindsWithReplicas have replicas.
	KindsWithReplicas = "Deployment|ReplicaSet|StatefulSet"

	// KindsWithPods have a template of pods.
	KindsWithPods = "DaemonSet|Deployment|Job|ReplicaSet|StatefulSet"

	// KindsWithJobs have a template of Jobs.
	KindsWithJobs = "CronJob"
)

// Uses say which values of an intent a Blueprint uses.
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

	// Workload is marked with track.LabelWorkload somewhere.
	Workload bool

	// Workloads that could be marked, as "<file>: <kind> <name>", in the order in which they are read.
	Workloads []string
}

// intentImagePattern matches the texts that kustomize takes for an image named ImageIntent.
var intentImagePattern = regexp.MustCompile("^" + ImageIntent + "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$")

// escapedWorkload is track.LabelWorkload as it is written in a path of a JSON patch.
const escapedWorkload = "intentplane.dev~1workload"

// scanNodeForMarks finds marks in the values of a file, whose aliases only repeat other values of it. It rather finds too much than too little: a mark that is
// not one only makes kustomize search for it.
func (u *Uses) scanNodeForMarks(n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			u.scanImageField(n.Content[i].Value, resolveAlias(n.Content[i+1]))
		}
	case yaml.ScalarNode:
		u.Workload = u.Workload || strings.Contains(n.Value, track.LabelWorkload) || strings.Contains(n.Value, escapedWorkload)
	}
	for _, c := range n.Content {
		u.scanNodeForMarks(c)
	}
}

// scanImageField checks a field that may name an image: of a container, of a volume, of a kustomization's images, of a patch or of a replacement.
func (u *Uses) scanImageField(key string, value *yaml.Node) {
	if slices.Contains([]string{"image", "reference", "newName", "value", "sourceValue"}, key) {
		u.Image = u.Image || intentImagePattern.MatchString(value.Value)
	}
}

// recordWorkload remembers an object if it is a workload.
func (u *Uses) recordWorkload(file string, n *yaml.Node) {
	kind := scalarField(n, "kind")
	if !slices.Contains(strings.Split(KindsWithPods+"|"+KindsWithJobs, "|"), kind) || n.Kind != yaml.MappingNode {
		return
	}
	u.Replicas = u.Replicas || slices.Contains(strings.Split(KindsWithReplicas, "|"), kind)
	if name := objectName(n); name != "" {
		u.Workloads = append(u.Workloads, file+": "+kind+" "+name)
	}
}
