// Package state keeps records of bundles: which packages belong to a bundle, which version of each is deployed, and with what result. One
// Secret holds the record of one bundle, as JSON that other tools can read and write: docs/bundles.md has its format.
//
// A record describes a deployment, and no deployment should depend on it: a program that cannot write a record continues its work, and reports the
// error. Several programs may write one record at once: each write is a get, a change, and an update of exactly the read version; a conflict repeats
// the three steps.
//
// The package depends on client-go, and on no other package of Intentplane.
package state

import (
	"encoding/json"
	"slices"
	"time"
)

// Schema is the newest schema of records that this package reads, and the schema of its writes. A record without a schema was written by
// uds-cli.
const Schema = 1

// A BundleState is the record of a bundle. Writes preserve the unknown fields of a record.
type BundleState struct {
	// Name of the bundle.
	Name string `json:"name"`

	// Version of the bundle that was requested last.
	Version string `json:"version"`

	// PkgStatuses are the packages of the bundle in its order, followed by the packages that left it.
	PkgStatuses []PkgStatus `json:"packages"`

	// Status of the bundle: Success, Failed, Deploying, NotDeployed or Removing.
	Status Status `json:"status"`

	// DateUpdated is the time of the last change of the bundle or of a package.
	DateUpdated time.Time `json:"date_updated"`

	// Schema of the record. Zero means that uds-cli wrote it; the next write makes it Schema.
	Schema int `json:"schema,omitempty"`

	// Writer of the last change: the Writer of its Options.
	Writer string `json:"writer,omitempty"`

	// Namespace and Secret are the location from which the record was read. They are not part of it.
	Namespace string `json:"-"`
	Secret    string `json:"-"`

	unknown map[string]json.RawMessage
}

// A PkgStatus is the record of one package of a bundle.
type PkgStatus struct {
	// Name of the package, once in a bundle.
	Name string `json:"name"`

	// Version that is deployed. Empty means none, or that it is unknown.
	Version string `json:"version"`

	// Status of the package.
	Status Status `json:"status"`

	// DateUpdated is the time of the last change of the package.
	DateUpdated time.Time `json:"date_updated"`

	// WantedVersion is the requested version, while another version or none is deployed. Success after Deploying moves it to Version.
	WantedVersion string `json:"wanted_version,omitempty"`

	// Revision, Commit and Digest identify the deployed content: the number of the revision, its commit in Git, and the digest of the requested spec.
	Revision int64  `json:"revision,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Digest   string `json:"digest,omitempty"`

	// Kind of the object of the package, such as IntentDeployment.
	Kind string `json:"kind,omitempty"`

	// DependsOn are packages of the bundle that are deployed before this one.
	DependsOn []string `json:"depends_on,omitempty"`

	// Message is the reason of the status, in a sentence. A change of the status removes it.
	Message string `json:"message,omitempty"`

	// Writer that set Deploying or Removing.
	Writer string `json:"writer,omitempty"`

	// Present is true for a NotDeployed package that left the bundle and returned: an earlier deployment of it may still be in the cluster.
	Present bool `json:"present,omitempty"`

	unknown map[string]json.RawMessage
}

// A Bundle is the desired state of a bundle.
type Bundle struct {
	// Name of the bundle. With the prefix of the Options it is the name of a Secret.
	Name string

	// Version of the bundle.
	Version string

	// Packages of the bundle, in the order in which they are deployed.
	Packages []Package
}

// A Package is the desired state of one package of a bundle.
type Package struct {
	// Name of the package: lower-case letters, digits, '-' and '.', 253 characters at most.
	Name string

	// Version that is requested. Empty means any version.
	Version string

	// Kind of the object of the package. Empty keeps the kind in the record.
	Kind string

	// DependsOn are packages of the bundle that are deployed before this one.
	DependsOn []string
}

// Pkg returns the record of a package, or nil if the bundle does not have that package.
func (s *BundleState) Pkg(name string) *PkgStatus {
	i := slices.IndexFunc(s.PkgStatuses, func(p PkgStatus) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &s.PkgStatuses[i]
}

// Uses reports whether the bundle has a package and did not remove it. A bundle in which the package is unreferenced does not use it.
func (s *BundleState) Uses(name string) bool {
	p := s.Pkg(name)
	return p != nil && p.IsUsed()
}

// IsUsed reports whether the bundle did not remove the package, and names it.
func (p *PkgStatus) IsUsed() bool { return p.Status != Removed && p.Status != Unreferenced }

// Unreferenced returns the packages that left the bundle and are still in the cluster.
func (s *BundleState) Unreferenced() []PkgStatus {
	return s.selectPackages(func(p PkgStatus) bool { return p.Status == Unreferenced })
}

// Stale returns the packages that another writer began to deploy or to remove longer than d before now: that writer may have ended before it could
// record the result. An empty writer differs from every writer.
func (s *BundleState) Stale(now time.Time, d time.Duration, writer string) []PkgStatus {
	return s.selectPackages(func(p PkgStatus) bool {
		return p.Status.isInProgress() && (writer == "" || p.Writer != writer) && now.Sub(p.DateUpdated) > d
	})
}

// selectPackages returns the selected packages, in a new slice that is never nil.
func (s *BundleState) selectPackages(isMeant func(PkgStatus) bool) []PkgStatus {
	all := append([]PkgStatus{}, s.PkgStatuses...)
	return slices.DeleteFunc(all, func(p PkgStatus) bool { return !isMeant(p) })
}
