// Package state is the recorded state of a control plane in a repository about each claim: the ledger of its deployment, in the home
// repository, and in each repository a record of the applied position. It is pure: it reads and writes bytes, and the controller pushes them
// to the repository.
package state

import (
	"encoding/json"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	kjson "sigs.k8s.io/json"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// format is the format of a deployment's files in a repository, and minReader the oldest format whose readers understand them.
const (
	format    = 2
	minReader = 2
)

// Years that the date of a commit can have.
const (
	firstYear = 1970
	lastYear  = 9999
)

// A Header identifies the subject of a file, and its readers.
type Header struct {
	// Format of the file.
	Format int `json:"format"`
	// MinReader is the oldest format whose readers understand the file. Who reads no such format must leave the file alone.
	MinReader int `json:"minReader"`
	// Claim that the file is about, without its UID: a claim that was restored from a backup is the same.
	Claim rolloutv1alpha1.ClaimReference `json:"claim"`
	// ClusterUID differs between two control planes of the same name.
	ClusterUID string `json:"clusterUID"`

	// stored is the content of the file when it was read. Fields of it that this version does not know are written back.
	stored map[string]any
}

// writtenHeader returns the header of a written file.
func (h Header) writtenHeader() Header {
	h.Format, h.MinReader = max(h.Format, format), max(h.MinReader, minReader)
	h.Claim.UID = ""
	return h
}

// Names of the files.
const (
	ledgerFile = "ledger.json"
	recordFile = "record.json"
)

// LedgerPath returns where the ledger of a claim lies in the state of its home repository.
func LedgerPath(c rolloutv1alpha1.ClaimReference) string { return directoryOf(c) + "/" + ledgerFile }

// RecordPath returns where the record of a claim lies in the state of each of its repositories.
func RecordPath(c rolloutv1alpha1.ClaimReference) string { return directoryOf(c) + "/" + recordFile }

// TreesPath returns the directory of the state that retains the trees which the record and the ledger of a claim name.
func TreesPath(c rolloutv1alpha1.ClaimReference) string { return directoryOf(c) + "/record.trees" }

func directoryOf(c rolloutv1alpha1.ClaimReference) string {
	return c.APIGroup + "/" + c.Namespace + "/" + c.Name
}

// A NewerError is returned about a file that only a newer version may change.
type NewerError struct {
	// MinReader is the oldest format whose readers understand the file.
	MinReader int
}

// Error says which version would be needed.
func (e *NewerError) Error() string {
	return fmt.Sprintf("cannot decode state: it needs a reader of format %d, and this version reads format %d", e.MinReader, format)
}

// decodeStateFile decodes a file of this format into a value with a header.
func decodeStateFile(name string, content []byte, limit int, h *Header, into any) error {
	if len(content) > limit {
		return errors.Errorf("cannot decode state: it has more than %d bytes", limit)
	}
	version := struct {
		Format    int `json:"format"`
		MinReader int `json:"minReader"`
	}{}
	if err := json.Unmarshal(content, &version); err != nil {
		return errors.New("cannot decode state: it is malformed")
	}
	if version.MinReader > format {
		return &NewerError{MinReader: version.MinReader}
	}
	if version.Format < format {
		return errors.Errorf("cannot decode state: format %d is not known", version.Format)
	}
	if err := unmarshalNumbers(content, &h.stored); err != nil {
		return errors.New("cannot decode state: it is malformed")
	}
	if err := checkSchema(name, h.stored); err != nil {
		return errors.Wrap(err, "cannot decode state")
	}
	// A duplicate field, or a field in other letters, could differ from the checked field.
	if twice, err := kjson.UnmarshalStrict(content, into, kjson.DisallowDuplicateFields); err != nil || len(twice) > 0 {
		return errors.New("cannot decode state: it is malformed")
	}
	return nil
}

// encodeStateFile encodes a file with the fields of a stored file that this version does not know. The stored file is decoded into understoodFile, to find the fields that this version knows.
func encodeStateFile(name string, file any, limit int, stored map[string]any, understoodFile any) ([]byte, error) {
	next, err := toJSONObject(file)
	if err != nil {
		return nil, err
	}
	if err := checkSchema(name, next); err != nil {
		return nil, errors.Wrap(err, "cannot encode state")
	}
	if stored != nil {
		understood, err := understoodPart(stored, understoodFile)
		if err != nil {
			return nil, err
		}
		retainUnknown(next, stored, understood)
	}
	b, err := json.MarshalIndent(next, "", " ")
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode state")
	}
	if len(b) >= limit {
		return nil, errors.Errorf("cannot encode state: %d bytes are more than the %d that fit", len(b)+1, limit)
	}
	return append(b, '\n'), nil
}
