package guard

import (
	"strconv"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

const volumeImage = "volumes.image"

// CheckImages returns an error, which names the field, for an image of a rendered object that is still the placeholder of the intent's image, which is
// the given image. An intent's image may have that name itself.
func CheckImages(o *resource.Resource, image string) error {
	if intentImagePattern.MatchString(image) || o.GetKind() == DefinitionKind {
		return nil
	}
	path, ok := findIntentImage(o.YNode(), "")
	if !ok {
		return nil
	}
	cause := "nothing puts it here"
	if image == "" {
		cause = "neither the intent nor the Blueprint's " + IntentFile + " has one"
	}
	return errors.Errorf("%s: the image %q stands for the intent's, and %s", path[1:], ImageIntent, cause)
}

// findIntentImage returns the path of the first image that is named ImageIntent, below a field.
func findIntentImage(n *yaml.Node, parent string) (string, bool) {
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			if rest, ok := findIntentImage(item, parent); ok {
				return "[" + strconv.Itoa(i) + "]" + rest, true
			}
		}
	}
	if n.Kind != yaml.MappingNode {
		return "", false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if isImageField(parent, key) && value.Kind == yaml.ScalarNode && intentImagePattern.MatchString(value.Value) {
			return "." + key, true
		}
		if rest, ok := findIntentImage(value, contextBelow(parent, key)); ok {
			return "." + key + rest, true
		}
	}
	return "", false
}

func contextBelow(parent, key string) string {
	if parent == "volumes" && key == "image" {
		return volumeImage
	}
	return key
}

func isImageField(parent, key string) bool {
	switch parent {
	case "containers", "initContainers", "ephemeralContainers":
		return key == "image"
	case volumeImage:
		return key == "reference"
	}
	return false
}
