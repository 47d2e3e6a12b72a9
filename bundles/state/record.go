// Package state keeps records of bundles: which packages belong to a bundle, which version of each is deployed, and with what result. One
// Secret holds the record of one bundle, as JSON that other tools can read and write: docs/bundles.md has its format.
//
// A record follows what happens, and nothing should depend on it: a program that cannot write one goes on with its work, and says so.
// Several programs may write one record at once: each write is a get, a change, and an update of exactly the version that was read, all of
// which is repeated after a conflict.
//
// The package needs client-go, and nothing else of Intentplane.
package state

import (
	"encoding/json"
	"slices"
	"time"
)

// Schema is the newest schema of records that this package reads, and the one that it writes. A record without a schema was written by
// uds-cli.
const Schema = 1

// A BundleState is the record of a bundle. Fields of the record that this package does not know are kept.
type BundleState struct {
	// Name of the bundle.
	Name string `json:"name"`

	// Version of the bundle that was asked for last.
	Version string `json:"version"`

	// PkgStatuses are the packages: those of the bundle, in the order of the bundle, and after them those that left it.
	PkgStatuses []PkgStatus `json:"packages"`

	// Status of the bundle: Success, Failed, Deploying, NotDeployed or Removing.
	Status Status `json:"status"`

	// DateUpdated is when the bundle or one of its packages changed last.
	DateUpdated time.Time `json:"date_updated"`

	// Schema of the record. Zero means that uds-cli wrote it; the next write makes it Schema.
	Schema int `json:"schema,omitempty"`

	// Writer of the last change, as its Options say.
	Writer string `json:"writer,omitempty"`

	// Namespace and Secret are where the record was read. They are not part of it.
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

	// DateUpdated is when anything of the package changed last.
	DateUpdated time.Time `json:"date_updated"`

	// WantedVersion is the version that the bundle asks for, while that is not the one that is deployed. Success after Deploying moves it to Version.
	WantedVersion string `json:"wanted_version,omitempty"`

	// Revision, Commit and Digest say what exactly is deployed: its number, its commit in Git, and the digest of what was asked for.
	Revision int64  `json:"revision,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Digest   string `json:"digest,omitempty"`

	// Kind of the object that the package is, such as IntentDeployment.
	Kind string `json:"kind,omitempty"`

	// DependsOn are packages of the bundle that are deployed before this one.
	DependsOn []string `json:"depends_on,omitempty"`

	// Message says in a sentence why the status is what it is. A change of the status removes it.
	Message string `json:"message,omitempty"`

	// Writer that set Deploying or Removing.
	Writer string `json:"writer,omitempty"`

	// Present says of a package that is NotDeployed that an earlier deployment of it may still be in the cluster: it left the bundle and
	// came back.
	Present bool `json:"present,omitempty"`

	unknown map[string]json.RawMessage
}

// A Bundle is what a bundle asks for.
type Bundle struct {
	// Name of the bundle. With the prefix of the Options it is the name of a Secret.
	Name string

	// Version of the bundle.
	Version string

	// Packages of the bundle, in the order in which they are deployed.
	Packages []Package
}

// A Package is what a bundle asks for of one package.
type Package struct {
	// Name of the package: lower-case letters, digits, '-' and '.', 253 characters at most.
	Name string

	// Version that is asked for. Empty leaves open which.
	Version string

	// Kind of the object that the package is. Empty leaves the record's as it is.
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

// Stale returns the packages that another writer began to deploy or to remove longer than d before now: that writer may have ended before it
// could record the result. An empty writer is another one than any.
func (s *BundleState) Stale(now time.Time, d time.Duration, writer string) []PkgStatus {
	return s.selectPackages(func(p PkgStatus) bool {
		return p.Status.isUnderWay() && (writer == "" || p.Writer != writer) && now.Sub(p.DateUpdated) > d
	})
}

// selectPackages returns the packages that are meant, in a slice of their own that is never nil.
func (s *BundleState) selectPackages(isMeant func(PkgStatus) bool) []PkgStatus {
	all := append([]PkgStatus{}, s.PkgStatuses...)
	return slices.DeleteFunc(all, func(p PkgStatus) bool { return !isMeant(p) })
}
