package render

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/boundedyaml"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/render/guard"
)

// Labels of every object that is delivered.
const (
	// LabelManagedBy names the program that delivers the object.
	LabelManagedBy = "app.kubernetes.io/managed-by"

	// LabelName holds the intent's service.
	LabelName = "app.kubernetes.io/name"

	// LabelClaim holds the claim's name.
	LabelClaim = "intentplane.dev/claim"

	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "intentplane"
)

const (
	folder            = "blueprint"
	kustomizationFile = "kustomization.yaml"
	namespaceFile     = "namespace.yaml"
	clusterScopedFile = "clusterscoped.yaml"
	workloadFile      = "workload.yaml"
	substituteFile    = "substitution.yaml"
)

// Bounds of a Blueprint's files.
const (
	maxFiles      = 64
	maxFileBytes  = 64 << 10
	maxInputBytes = 512 << 10

	// maxIntentBytes is the greatest size of the values that a Blueprint reads, in bytes.
	maxIntentBytes = 256 << 10
)

// fileNamePattern matches the allowed names of a Blueprint's files. Folders have no dots, so that kustomize takes none for the address of a Git server.
var fileNamePattern = regexp.MustCompile(`^([A-Za-z0-9_-]+/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$`)

// Layout returns the exact files that Build gives to kustomize: the Blueprint's in the folder blueprint, with intent.yaml, and on top
// a kustomization that labels the objects, puts objects without a namespace into the claim's, and gives the intent's values to images
// and workloads that are marked for it, except for the settings that Build writes to containers, pods and bindings after kustomize. It returns
// an error, as Build does, for a Blueprint that reaches outside of itself and for parameters that it does not take.
func Layout(in Input) (tree.Files, error) {
	files, _, err := layoutFiles(in)
	return files, err
}

// layoutFiles returns the files of Layout, and the values of the intent that the Blueprint can read.
func layoutFiles(in Input) (tree.Files, map[string]string, error) {
	if in.Blueprint == nil {
		return nil, nil, errors.New("the Blueprint is missing")
	}
	files := map[string]string{}
	for name, text := range in.Blueprint.Spec.Files {
		files[name] = string(text)
	}
	if err := checkSpecFiles(files); err != nil {
		return nil, nil, err
	}
	data, err := intentValues(in, files[guard.IntentFile])
	if err != nil {
		return nil, nil, err
	}
	config, err := encodeIntentConfigMap(data)
	if err != nil {
		return nil, nil, err
	}
	if len(config) > maxIntentBytes {
		return nil, nil, errors.Errorf("the intent's values have %d bytes, more than %d", len(config), maxIntentBytes)
	}
	files[guard.IntentFile] = string(config)
	uses, err := guard.CheckContained(files)
	if err != nil {
		return nil, nil, err
	}
	custom, err := readDefinitions(files)
	if err != nil {
		return nil, nil, err
	}
	out, err := addIntentOverlay(in, files, data, uses, custom.ClusterScoped())
	return out, data, err
}

// Check returns an error when no input would make a Blueprint render: its files are not valid, reach outside of it, or are too much.
// It names the file.
func Check(b *catalogv1alpha1.Blueprint) error {
	_, err := UsesOf(b)
	return err
}

// UsesOf returns the parts of a Blueprint that an intent can fill. It returns the errors of Check.
func UsesOf(b *catalogv1alpha1.Blueprint) (guard.Uses, error) {
	files := map[string]string{}
	for name, text := range b.Spec.Files {
		files[name] = string(text)
	}
	if err := checkSpecFiles(files); err != nil {
		return guard.Uses{}, err
	}
	if _, err := Defaults(files[guard.IntentFile]); err != nil {
		return guard.Uses{}, err
	}
	if files[guard.IntentFile] == "" {
		// A kustomization may list the intent without defaults for it.
		files[guard.IntentFile] = "{}"
	}
	uses, err := guard.CheckContained(files)
	if err != nil {
		return guard.Uses{}, err
	}
	_, err = readDefinitions(files)
	return uses, err
}

func checkSpecFiles(files map[string]string) error {
	if len(files) > maxFiles {
		return errors.Errorf("spec.files: has %d files, more than %d", len(files), maxFiles)
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !fileNamePattern.MatchString(name) || tree.ValidatePath(name) != nil || strings.Contains(name, "_git/") {
			return errors.Errorf("spec.files: %.128q: must be a relative path of letters, digits, '-', '_' and, in its last part, '.'", name)
		}
		if n := len(files[name]); n > maxFileBytes {
			return errors.Errorf("spec.files: %s: has %d bytes, more than %d", name, n, maxFileBytes)
		}
		if err := oneline.CheckUTF8(files[name]); err != nil {
			return errors.Wrapf(err, "spec.files: %s", name)
		}
		total += len(files[name])
	}
	if total > maxInputBytes {
		return errors.Errorf("spec.files: have %d bytes, more than %d", total, maxInputBytes)
	}
	for name := range files {
		for folder := range files {
			if strings.HasPrefix(name, folder+"/") {
				return errors.Errorf("spec.files: %s: is a file and a folder", folder)
			}
		}
	}
	return nil
}

// intentValues returns the data of the intent's ConfigMap.
func intentValues(in Input, defaults string) (map[string]string, error) {
	data, err := Defaults(defaults)
	if err != nil {
		return nil, err
	}
	parameters, err := completeParameters(in.Blueprint.Spec.ParametersSchema, in.Intent.Parameters)
	if err != nil {
		return nil, err
	}
	for k, v := range parameters {
		data["param-"+k] = v
	}
	for k, v := range in.Site.Parameters {
		data["site-"+k] = v
	}
	data["service"] = in.Intent.Service
	data["type"] = in.Intent.Type
	data["site"] = in.Site.Name
	data["namespace"] = in.Claim.Namespace
	data["claim"] = in.Claim.Name
	data["replicas"] = strconv.Itoa(int(in.Intent.ReplicasAt(in.Site.Name)))
	for k, v := range map[string]string{"image": in.Intent.Image, "cpu": in.Intent.Resources.CPU, "memory": in.Intent.Resources.Memory} {
		if v != "" {
			data[k] = v
		}
	}
	maps.Copy(data, networkValues(in.Intent, in.Site))
	return data, nil
}

// A configMap has the fields of a ConfigMap that an intent.yaml may set.
type configMap struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   configMapMetadata `json:"metadata"`
	Data       map[string]string `json:"data,omitempty"`
}

type configMapMetadata struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Defaults returns the data of the ConfigMap in a Blueprint's intent.yaml. It is empty for an empty text. It returns an error for anything else.
func Defaults(text string) (map[string]string, error) {
	if text == "" {
		return map[string]string{}, nil
	}
	c := configMap{}
	if err := boundedyaml.UnmarshalStrict([]byte(text), &c); err != nil {
		return nil, errors.Errorf("spec.files: %s: %s", guard.IntentFile, guard.ShortenMessage(err.Error()))
	}
	if c.APIVersion != "v1" || c.Kind != "ConfigMap" || c.Metadata.Name != guard.IntentName {
		return nil, errors.Errorf("spec.files: %s: must be a v1 ConfigMap named %s", guard.IntentFile, guard.IntentName)
	}
	if c.Data == nil {
		return map[string]string{}, nil
	}
	return c.Data, nil
}

// encodeIntentConfigMap encodes the ConfigMap, marked as local configuration: kustomize leaves it out of its output.
func encodeIntentConfigMap(data map[string]string) ([]byte, error) {
	b, err := yaml.Marshal(configMap{
		APIVersion: "v1", Kind: "ConfigMap", Data: data,
		Metadata: configMapMetadata{Name: guard.IntentName, Annotations: map[string]string{guard.LocalConfig: "true"}},
	})
	return b, errors.Wrapf(err, "cannot encode %s", guard.IntentFile)
}
