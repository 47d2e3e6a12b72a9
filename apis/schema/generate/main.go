// Command generate writes the schemas of Kubernetes' own kinds, as small as they get: no descriptions, no lists, nothing that no
// object reaches. It reads Kubernetes' swagger.json, and is run with the version that tools/kubernetes pins:
//
//	go run ./apis/schema/generate "$(cd tools/kubernetes && go list -m -f '{{.Dir}}' k8s.io/kubernetes)/api/openapi-spec/swagger.json" \
//	  apis/schema/kubernetes.json.gz
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const prefix = "#/definitions/"

type object = map[string]any

// slim is the document that the command writes.
type slim struct {
	Definitions map[string]object `json:"definitions"`
	Kinds       map[string]string `json:"kinds"`
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: generate <swagger.json> <file to write>")
	}
	if err := generateSchemas(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func generateSchemas(source, target string) error {
	b, err := os.ReadFile(source) //nolint:gosec // The developer names the file.
	if err != nil {
		return errors.Wrap(err, "cannot read the schemas")
	}
	all := struct {
		Definitions map[string]object `json:"definitions"`
	}{}
	if err := json.Unmarshal(b, &all); err != nil {
		return errors.Wrap(err, "cannot decode the schemas")
	}
	out := slim{Definitions: map[string]object{}, Kinds: map[string]string{}}
	for name, d := range all.Definitions {
		for _, kind := range kindsOfDefinition(d) {
			out.Kinds[kind] = name
			out.copyReachable(all.Definitions, name)
		}
	}
	return writeArchive(target, out)
}

// kindsOfDefinition returns the kinds of objects whose whole schema a definition is.
func kindsOfDefinition(d object) []string {
	out := []string{}
	list, _ := d["x-kubernetes-group-version-kind"].([]any)
	properties, _ := d["properties"].(object)
	for _, v := range list {
		m, _ := v.(object)
		kind, _ := m["kind"].(string)
		if properties["metadata"] == nil || strings.HasSuffix(kind, "List") {
			continue
		}
		group, _ := m["group"].(string)
		version, _ := m["version"].(string)
		out = append(out, strings.TrimPrefix(group+"/"+version, "/")+" "+kind)
	}
	return out
}

// copyReachable copies a definition and all that it refers to.
func (s *slim) copyReachable(all map[string]object, name string) {
	if s.Definitions[name] != nil {
		return
	}
	d, _ := trimSchemaNode(all[name]).(object)
	s.Definitions[name] = d
	for _, ref := range findReferences(d) {
		s.copyReachable(all, ref)
	}
}

// isSchemaKeyword is true for keywords about an object's structure, and about the merge of lists by server-side apply.
func isSchemaKeyword(name string) bool {
	return slices.Contains([]string{
		"$ref", "type", "format", "required", "items", "properties", "additionalProperties", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
	}, name)
}

func trimSchemaNode(v any) any {
	m, ok := v.(object)
	if !ok {
		return v
	}
	out := object{}
	for k, v := range m {
		switch {
		case k == "properties":
			out[k] = trimProperties(v)
		case isSchemaKeyword(k):
			out[k] = trimSchemaNode(v)
		}
	}
	return out
}

func trimProperties(v any) object {
	out := object{}
	m, _ := v.(object)
	for k, v := range m {
		out[k] = trimSchemaNode(v)
	}
	return out
}

func findReferences(v any) []string {
	out := []string{}
	m, _ := v.(object)
	for k, v := range m {
		if ref, ok := v.(string); ok && k == "$ref" {
			out = append(out, strings.TrimPrefix(ref, prefix))
		}
		out = append(out, findReferences(v)...)
	}
	return out
}

func writeArchive(target string, s slim) error {
	b, err := json.Marshal(s)
	if err != nil {
		return errors.Wrap(err, "cannot encode the schemas")
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return errors.Wrap(err, "cannot compress the schemas")
	}
	if _, err := w.Write(b); err != nil {
		return errors.Wrap(err, "cannot compress the schemas")
	}
	if err := w.Close(); err != nil {
		return errors.Wrap(err, "cannot compress the schemas")
	}
	//nolint:gosec // A build tool writes the file of its argument.
	return errors.Wrap(os.WriteFile(target, packed.Bytes(), 0o600), "cannot write the schemas")
}
