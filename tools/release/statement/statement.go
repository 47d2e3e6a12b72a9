// Package statement makes in-toto statements about the files of a release: how they were made, as SLSA provenance, and their content.
package statement

import (
	"bytes"
	"encoding/json"
	"fmt"

	provenance "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// Provenance is the type of SLSA provenance, version 1.
	Provenance = "https://slsa.dev/provenance/v1"

	// SPDX is the type of SPDX documents.
	SPDX = "https://spdx.dev/Document"

	// buildType names the way in which "make release" makes files.
	buildType = "https://github.com/intentplane/intentplane/blob/main/docs/releases.md#provenance"

	repository = "git+https://github.com/intentplane/intentplane"
)

// A Subject is a file or a manifest that a statement is about.
type Subject struct {
	Name string

	// SHA256 is the digest in hex.
	SHA256 string
}

// A Build is how the files of a release were made.
type Build struct {
	Version string

	// Commit is the id of the commit in Git.
	Commit string

	// Go is the version of the compiler, such as go1.26.0.
	Go string

	// Builder is the URI of the machine's owner, who is trusted to have run the build.
	Builder string
}

// Describe returns the provenance of subjects, as JSON. It has no times, so a second build makes the same one.
func (b Build) Describe(subjects []Subject) ([]byte, error) {
	parameters, err := structpb.NewStruct(map[string]any{"version": b.Version, "source": repository})
	if err != nil {
		return nil, fmt.Errorf("cannot describe the parameters of the build: %w", err)
	}
	predicate := &provenance.Provenance{
		BuildDefinition: &provenance.BuildDefinition{
			BuildType: buildType, ExternalParameters: parameters,
			ResolvedDependencies: []*intoto.ResourceDescriptor{
				{Uri: repository + "@" + b.Commit, Digest: map[string]string{"gitCommit": b.Commit}},
				{Uri: "pkg:generic/go@" + b.Go, Name: b.Go},
			},
		},
		RunDetails: &provenance.RunDetails{Builder: &provenance.Builder{Id: b.Builder}},
	}
	if err := predicate.Validate(); err != nil {
		return nil, fmt.Errorf("cannot describe the build: %w", err)
	}
	content, err := toStruct(predicate)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the provenance: %w", err)
	}
	return encode(Provenance, content, subjects)
}

// ListContent returns the statement that an SPDX document lists the content of subjects.
func ListContent(document []byte, subjects []Subject) ([]byte, error) {
	content := &structpb.Struct{}
	if err := protojson.Unmarshal(document, content); err != nil {
		return nil, fmt.Errorf("cannot read an SPDX document: %w", err)
	}
	return encode(SPDX, content, subjects)
}

func toStruct(m proto.Message) (*structpb.Struct, error) {
	text, err := protojson.Marshal(m)
	if err != nil {
		return nil, err
	}
	out := &structpb.Struct{}
	return out, protojson.Unmarshal(text, out)
}

// encode returns a statement as JSON without spaces: the encoder of protobuf adds some that differ between programs.
func encode(kind string, predicate *structpb.Struct, subjects []Subject) ([]byte, error) {
	s := &intoto.Statement{Type: intoto.StatementTypeUri, PredicateType: kind, Predicate: predicate}
	for _, subject := range subjects {
		s.Subject = append(s.Subject, &intoto.ResourceDescriptor{Name: subject.Name, Digest: map[string]string{"sha256": subject.SHA256}})
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("cannot make a statement: %w", err)
	}
	text, err := protojson.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a statement: %w", err)
	}
	out := &bytes.Buffer{}
	if err := json.Compact(out, text); err != nil {
		return nil, fmt.Errorf("cannot encode a statement: %w", err)
	}
	return out.Bytes(), nil
}
