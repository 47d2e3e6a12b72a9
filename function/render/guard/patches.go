package guard

import (
	"regexp"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/intentplane/intentplane/apis/boundedyaml"
)

// Patches and replacements can copy a part of an object into itself, and so double it each time. The rules here leave nothing
// that grows faster than its input.

var (
	plainKind = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	plainName = regexp.MustCompile(`^[a-z0-9-]+$`)
)

func (g *walker) checkPatches(k *types.Kustomization, dir string, _ []string) error {
	g.patchCount += len(k.Patches)
	for _, p := range k.Patches {
		if p.Options != nil && (p.Options.AllowNameChange || p.Options.AllowKindChange) {
			return errors.New("patches: options allowNameChange and allowKindChange are not allowed")
		}
		name, text := "patches", p.Patch
		if p.Path != "" {
			file, err := g.resolveFile(dir, p.Path)
			if err != nil {
				return errors.Wrap(err, "patches")
			}
			name, text = file, g.files[file]
		}
		if err := g.checkPatch(name, text, p.Target); err != nil {
			return err
		}
	}
	return nil
}

// checkPatch refuses the operation copy of JSON patches.
func (g *walker) checkPatch(name, text string, target *types.Selector) error {
	documents, err := g.readYAMLDocuments(name, text)
	if err != nil {
		return err
	}
	g.changeBytes += len(text)
	g.uses.recordPatch(target, documents)
	for _, d := range documents {
		for _, op := range listElements(d) {
			if op := scalarField(op, "op"); op == "copy" || op == mergedField {
				return errors.Errorf("%s: the operation copy is not allowed", name)
			}
		}
	}
	return nil
}

func (g *walker) checkReplacements(k *types.Kustomization, dir string, _ []string) error {
	for _, r := range k.Replacements {
		list := []types.Replacement{r.Replacement}
		if r.Path != "" {
			name, err := g.resolveFile(dir, r.Path)
			if err != nil {
				return errors.Wrap(err, "replacements")
			}
			if list, err = g.readReplacementFile(name); err != nil {
				return err
			}
		}
		for i := range list {
			if err := g.checkReplacement(&list[i]); err != nil {
				return errors.Wrap(err, "replacements")
			}
		}
	}
	if g.fields > maxFields {
		return errors.Errorf("replacements: have more than %d targets", maxFields)
	}
	return nil
}

// readReplacementFile reads a file with one replacement, or a list of them.
func (g *walker) readReplacementFile(name string) ([]types.Replacement, error) {
	documents, err := g.readYAMLDocuments(name, g.files[name])
	if err != nil {
		return nil, err
	}
	if len(documents) != 1 {
		return nil, errors.Errorf("%s: must be one document", name)
	}
	g.changeBytes += len(g.files[name])
	list := make([]types.Replacement, 1)
	var target any = &list[0]
	if listElements(documents[0]) != nil {
		target = &list
	}
	return list, errors.Wrap(boundedyaml.Unmarshal([]byte(g.files[name]), target), name)
}

func (g *walker) checkReplacement(r *types.Replacement) error {
	small, err := copiesNameOnly(r)
	if err != nil {
		return err
	}
	for _, t := range r.Targets {
		if t == nil || t.Select == nil || !plainKind.MatchString(t.Select.Kind) {
			return errors.New("each target must select one kind by its name")
		}
		if t.Select.Kind == "ConfigMap" && (!plainName.MatchString(t.Select.Name) || strings.Contains(t.Select.Name, IntentName)) {
			return errors.Errorf("a target that is a ConfigMap must be selected by its name, and not be %s", IntentName)
		}
		if small && hasDelimiterOrEncoding(t.Options) {
			return errors.Errorf("a target may have a delimiter only when the source is the ConfigMap %s", IntentName)
		}
		g.fields += len(t.FieldPaths)
		g.changeBytes += growthOfField(t.Options) * len(t.FieldPaths)
	}
	g.uses.recordSource(r.Source)
	return nil
}

// copiesNameOnly reports whether the source of a replacement is another object than the intent. Of such an object a replacement may copy the
// name or the namespace only, as a whole.
func copiesNameOnly(r *types.Replacement) (bool, error) {
	s := r.Source
	if s == nil || (s.Kind == "ConfigMap" && s.Name == IntentName) {
		return false, nil
	}
	switch s.FieldPath {
	case "", types.MetadataNamePath, "metadata.name", "metadata.namespace":
	default:
		return false, errors.Errorf("a source other than the ConfigMap %s may only give metadata.name or metadata.namespace", IntentName)
	}
	if hasDelimiterOrEncoding(s.Options) {
		return false, errors.Errorf("a source may have a delimiter only when it is the ConfigMap %s", IntentName)
	}
	return true, nil
}

// growthOfField returns by how many bytes one field of a target may let each object grow.
func growthOfField(o *types.FieldOptions) int {
	if hasDelimiterOrEncoding(o) {
		return 4096
	}
	return 256
}

func hasDelimiterOrEncoding(o *types.FieldOptions) bool {
	return o != nil && (o.Delimiter != "" || o.Encoding != "")
}
