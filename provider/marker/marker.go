// Package marker identifies the owner of a directory in a repository.
package marker

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

const (
	version = 1

	// MaxBytes is more than a marker ever has. A longer file is not a marker.
	MaxBytes = 4096
)

// A Marker is the content of the file in each directory of a claim. It does not change while the directory has the same owner, so the id of
// its blob identifies the owner without fetching it.
type Marker struct {
	// Claim that the directory was written for. Its UID is not part of the marker.
	Claim rolloutv1alpha1.ClaimReference
	// Shard is always 0 in markers of this version. It is part of the format.
	Shard int32
	// ControlPlane is the name of the installation that wrote the directory.
	ControlPlane string
	// ClusterUID distinguishes two installations of the same name.
	ClusterUID string
}

// file is the encoded form of a marker. The order of the fields is the order in the file.
type file struct {
	Version      int    `json:"version"`
	ControlPlane string `json:"controlPlane"`
	ClusterUID   string `json:"clusterUID"`
	Claim        claim  `json:"claim"`
	Shard        int32  `json:"shard"`
}

type claim struct {
	APIGroup  string `json:"apiGroup"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Encode returns the content of the marker's file. Equal markers have equal content. It returns an error if the marker cannot be encoded,
// which is a bug in this package.
func (m Marker) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(m.toMarkerFile(), "", "  ")
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode marker")
	}
	return append(b, '\n'), nil
}

func (m Marker) toMarkerFile() file {
	return file{
		Version: version, ControlPlane: m.ControlPlane, ClusterUID: m.ClusterUID, Shard: m.Shard,
		Claim: claim{APIGroup: m.Claim.APIGroup, Kind: m.Claim.Kind, Namespace: m.Claim.Namespace, Name: m.Claim.Name},
	}
}

// Parse returns the marker in a file. It returns an error if the file is not a marker of a version that is supported.
func Parse(content []byte) (Marker, error) {
	if len(content) > MaxBytes {
		return Marker{}, errors.Errorf("cannot parse marker: it has more than %d bytes", MaxBytes)
	}
	f := file{}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return Marker{}, errors.New("cannot parse marker: it is malformed")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Marker{}, errors.New("cannot parse marker: something follows it")
	}
	if f.Version != version {
		return Marker{}, errors.Errorf("cannot parse marker: version %d is not known", f.Version)
	}
	return Marker{
		Claim: rolloutv1alpha1.ClaimReference{
			APIGroup: f.Claim.APIGroup, Kind: f.Claim.Kind, Namespace: f.Claim.Namespace, Name: f.Claim.Name,
		},
		Shard:        f.Shard,
		ControlPlane: f.ControlPlane,
		ClusterUID:   f.ClusterUID,
	}, nil
}

// SameClaim reports whether both markers are for the same claim and shard of an installation of the same name.
func (m Marker) SameClaim(o Marker) bool {
	m.ClusterUID, o.ClusterUID = "", ""
	m.Claim.UID, o.Claim.UID = "", ""
	return m == o
}
