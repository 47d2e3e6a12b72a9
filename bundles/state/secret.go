package state

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// SecretType is the type of the Secrets that this package creates. Secrets of uds-cli are Opaque.
const SecretType corev1.SecretType = "state.intentplane.dev/bundle.v1"

// Labels of the Secrets that this package writes. A value over the limit of labels is shortened, and invalid characters are replaced by '_'.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelBundle    = "state.intentplane.dev/bundle"
	LabelVersion   = "state.intentplane.dev/version"
	LabelStatus    = "state.intentplane.dev/status"
	LabelSchema    = "state.intentplane.dev/schema"
)

// managedBy is the value of LabelManagedBy.
const managedBy = "intentplane"

// Keys of a Secret. A record is under one of them.
const (
	keyPlain = "data"
	keyGzip  = "data.gz"
)

const (
	// maxPlainBytes is the maximum size of a record under keyPlain.
	maxPlainBytes = 256 << 10

	// maxStoredBytes is the maximum size of a compressed record. A Secret may have 1 MiB.
	maxStoredBytes = 1_000_000

	// maxUnpackedBytes is the maximum size of a record before it is compressed.
	maxUnpackedBytes = 8 << 20

	// maxReasonBytes is the limit of the reason in an error about a broken record.
	maxReasonBytes = 512
)

// Decode returns the record that a Secret holds. It reads records of uds-cli, too. It returns ErrNewer for a newer schema, and ErrBroken for
// anything that is not a record; a hostile Secret costs little more memory than a large record.
func Decode(secret *corev1.Secret) (*BundleState, error) {
	plain, err := readRecordJSON(secret.Data)
	if err != nil {
		return nil, describeBroken(secret, err)
	}
	version := struct {
		Schema int `json:"schema"`
	}{}
	if err := json.Unmarshal(plain, &version); err != nil {
		return nil, describeBroken(secret, err)
	}
	if version.Schema > Schema {
		return nil, fmt.Errorf("%w: Secret %s/%s has schema %d, and this program knows those up to %d: use a newer version of it",
			ErrNewer, secret.Namespace, secret.Name, version.Schema, Schema)
	}
	s := &BundleState{}
	if err := decodeRecord(plain, s); err != nil {
		return nil, describeBroken(secret, err)
	}
	s.Namespace, s.Secret = secret.Namespace, secret.Name
	return s, nil
}

// describeBroken returns ErrBroken with the beginning of an error, which may repeat megabytes of the record: callers keep the errors of many records.
func describeBroken(secret *corev1.Secret, err error) error {
	reason := err.Error()
	if len(reason) > maxReasonBytes {
		reason = strings.ToValidUTF8(reason[:maxReasonBytes], "") + "..."
	}
	return fmt.Errorf("%w in Secret %s/%s: %s: repair the Secret, or delete it and deploy the bundle again, which makes a new record",
		ErrBroken, secret.Namespace, secret.Name, reason)
}

// readRecordJSON returns the JSON of a record. A tool without support for compressed records leaves the old compressed record beside its own, so the plain
// record takes precedence.
func readRecordJSON(data map[string][]byte) ([]byte, error) {
	if plain, ok := data[keyPlain]; ok {
		return checkUnpacked(plain)
	}
	packed, ok := data[keyGzip]
	if !ok {
		return nil, fmt.Errorf("it has neither %s nor %s", keyPlain, keyGzip)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxUnpackedBytes+1))
	if err != nil {
		return nil, err
	}
	return checkUnpacked(plain)
}

func checkUnpacked(plain []byte) ([]byte, error) {
	if len(plain) > maxUnpackedBytes {
		return nil, fmt.Errorf("it has more than %d bytes", maxUnpackedBytes)
	}
	return plain, nil
}

// decodeRecord decodes and checks a record of a known schema.
func decodeRecord(plain []byte, s *BundleState) error {
	if err := checkFieldLimits(plain); err != nil {
		return err
	}
	if err := json.Unmarshal(plain, s); err != nil {
		return err
	}
	if s.Schema == 0 {
		migrateRecord(s)
	}
	return checkRecord(s)
}

// migrateRecord converts a record of uds-cli: uds-cli writes the requested version also if no version is deployed.
func migrateRecord(s *BundleState) {
	for i := range s.PkgStatuses {
		p := &s.PkgStatuses[i]
		if p.Status == legacyUnreferenced {
			p.Status = Unreferenced
		}
		if p.Status == NotDeployed || p.Status == Removed {
			p.Version, p.WantedVersion = "", p.Version
		}
	}
}

// checkRecord returns an error for an invalid record.
func checkRecord(s *BundleState) error {
	if s.Name == "" {
		return fmt.Errorf("it names no bundle")
	}
	if len(s.Name) > validation.DNS1123SubdomainMaxLength {
		return fmt.Errorf("the name of its bundle has %d bytes, and a name has at most %d", len(s.Name), validation.DNS1123SubdomainMaxLength)
	}
	if s.Schema < 0 {
		return fmt.Errorf("%d is not a schema", s.Schema)
	}
	if !s.Status.isBundleStatus() {
		return fmt.Errorf("a bundle cannot be %q", s.Status)
	}
	names := map[string]bool{}
	for _, p := range s.PkgStatuses {
		switch {
		case p.Name == "":
			return fmt.Errorf("a package with status %q has no name", p.Status)
		case names[p.Name]:
			return fmt.Errorf("package %q is there twice", p.Name)
		case p.Status.Next() == nil:
			return fmt.Errorf("package %q has status %q, which is none that this version knows: %s", p.Name, p.Status, joinStatuses(Statuses()))
		}
		names[p.Name] = true
	}
	return nil
}

// encodeSecret writes a record into a Secret, and keeps the keys of other programs. It returns ErrTooLarge for a record over the limit.
func encodeSecret(s *BundleState, secret *corev1.Secret) error {
	key, value, err := encodeRecord(s)
	if err != nil {
		return err
	}
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	delete(secret.Data, keyPlain)
	delete(secret.Data, keyGzip)
	secret.Data[key] = value
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	secret.Labels[LabelManagedBy] = managedBy
	secret.Labels[LabelBundle] = sanitizeLabelValue(s.Name)
	secret.Labels[LabelVersion] = sanitizeLabelValue(s.Version)
	secret.Labels[LabelStatus] = sanitizeLabelValue(string(s.Status))
	secret.Labels[LabelSchema] = strconv.Itoa(s.Schema)
	return nil
}

// encodeRecord returns the key and the value under which a record is stored.
func encodeRecord(s *BundleState) (string, []byte, error) {
	plain, err := json.Marshal(s)
	if err != nil || len(plain) <= maxPlainBytes {
		return keyPlain, plain, err
	}
	packed, err := compressRecord(plain)
	if err != nil {
		return "", nil, err
	}
	if len(plain) > maxUnpackedBytes || len(packed) > maxStoredBytes || len(s.PkgStatuses) > maxPackages {
		return "", nil, fmt.Errorf("%w: bundle %q has %d packages in %d bytes, compressed %d, and may have %d in %d, compressed %d: make several bundles of it",
			ErrTooLarge, s.Name, len(s.PkgStatuses), len(plain), len(packed), maxPackages, maxUnpackedBytes, maxStoredBytes)
	}
	return keyGzip, packed, nil
}

// compressRecord compresses. Equal bytes become equal bytes.
func compressRecord(plain []byte) ([]byte, error) {
	out := &bytes.Buffer{}
	w := gzip.NewWriter(out)
	_, err := w.Write(plain)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// sanitizeLabelValue returns a text as the value of a label.
func sanitizeLabelValue(text string) string {
	out := strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, text)
	return strings.Trim(out[:min(len(out), validation.LabelValueMaxLength)], "-_.")
}
