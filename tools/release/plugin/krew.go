package plugin

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const home = "https://github.com/intentplane/intentplane"

// A manifest describes a plugin to krew, in version krew.googlecontainertools.github.com/v1alpha2.
type manifest struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       spec     `json:"spec"`
}

type metadata struct {
	Name string `json:"name"`
}

type spec struct {
	Version          string     `json:"version"`
	Homepage         string     `json:"homepage"`
	ShortDescription string     `json:"shortDescription"`
	Description      string     `json:"description"`
	Platforms        []download `json:"platforms"`
}

type download struct {
	Selector metav1.LabelSelector `json:"selector"`
	URI      string               `json:"uri"`
	SHA256   string               `json:"sha256"`
	Bin      string               `json:"bin"`
}

// Manifest returns the manifest of krew for archives, each with its digest in hex.
func Manifest(version string, platforms []Platform, digests map[Platform]string) ([]byte, error) {
	m := manifest{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: metadata{Name: "intent"},
		Spec: spec{
			Version: version, Homepage: home, ShortDescription: "Deploy services by intent, and see why they wait",
			Description: "Checks IntentDeployments and the objects that they need before they are applied, shows how far a\n" +
				"deployment is and why it does not go on, and makes the requests that a person decides on. It needs\n" +
				"Intentplane and Crossplane in the cluster for the commands that read one.\n",
		},
	}
	for _, p := range platforms {
		digest, ok := digests[p]
		if !ok {
			return nil, fmt.Errorf("cannot describe the plugin for %s/%s: it has no archive", p.OS, p.Architecture)
		}
		m.Spec.Platforms = append(m.Spec.Platforms, download{
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{"os": p.OS, "arch": p.Architecture}},
			URI:      home + "/releases/download/" + version + "/" + p.File(version), SHA256: digest, Bin: p.program(),
		})
	}
	text, err := yaml.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the manifest of krew: %w", err)
	}
	return text, nil
}
