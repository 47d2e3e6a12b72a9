// Package sbom lists the content of programs as SPDX documents.
package sbom

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

const (
	organization = "Intentplane"
	unknown      = "NOASSERTION"
	standard     = "std"
)

// A Program is a released file that holds a Go program.
type Program struct {
	// File is the name of the released file, such as a package or an archive, and SHA256 its digest in hex.
	File   string
	SHA256 string

	// Binary is the path of the program.
	Binary string
}

// A module is a Go module with its version.
type module struct{ path, version string }

// Document returns the SPDX document, as JSON, of the programs of one name for all platforms: each released file depends on the modules in its program, and on Go's
// own library. The document is the same for the same programs, version and time.
func Document(name, version string, created time.Time, programs []Program) ([]byte, error) {
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: name + " " + version,
		CreationInfo: &spdx.CreationInfo{
			Created:  created.UTC().Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Organization", Creator: organization}, {CreatorType: "Tool", Creator: "intentplane-release-" + version}},
		},
	}
	modules := map[module]bool{}
	for _, p := range programs {
		linked, err := readModules(p.Binary)
		if err != nil {
			return nil, err
		}
		addProgram(doc, p, version, linked)
		for _, m := range linked {
			modules[m] = true
		}
	}
	for _, m := range slices.SortedFunc(maps.Keys(modules), compareModules) {
		doc.Packages = append(doc.Packages, m.describe())
	}
	doc.DocumentNamespace = namespace(name, version, programs)
	return encode(doc)
}

// namespace is unique for the digests of the programs, as the specification demands. It has no "#", behind which SPDX names the elements of a document.
func namespace(name, version string, programs []Program) string {
	all := sha256.New()
	for _, p := range programs {
		_, _ = fmt.Fprintln(all, p.SHA256, p.File) // A hash never returns an error.
	}
	return fmt.Sprintf("https://github.com/intentplane/intentplane/spdx/%s-%s-%s", name, version, hex.EncodeToString(all.Sum(nil)[:8]))
}

func encode(doc *spdx.Document) ([]byte, error) {
	out := &bytes.Buffer{}
	if err := json.Write(doc, out, json.Indent("  "), json.EscapeHTML(false)); err != nil {
		return nil, fmt.Errorf("cannot encode an SPDX document: %w", err)
	}
	return out.Bytes(), nil
}

func addProgram(doc *spdx.Document, p Program, version string, linked []module) {
	id := elementID("File", p.File)
	doc.Packages = append(doc.Packages, &spdx.Package{
		PackageName: p.File, PackageSPDXIdentifier: id, PackageVersion: version, PackageFileName: p.File,
		PackageSupplier:         &common.Supplier{SupplierType: "Organization", Supplier: organization},
		PackageDownloadLocation: "https://github.com/intentplane/intentplane/releases/download/" + version + "/" + p.File,
		PackageChecksums:        []common.Checksum{{Algorithm: common.SHA256, Value: p.SHA256}},
		PackageLicenseConcluded: unknown, PackageLicenseDeclared: "Apache-2.0", PackageCopyrightText: unknown, PrimaryPackagePurpose: "APPLICATION",
	})
	doc.Relationships = append(doc.Relationships, relate("DOCUMENT", common.TypeRelationshipDescribe, id))
	for _, m := range linked {
		doc.Relationships = append(doc.Relationships, relate(id, common.TypeRelationshipDependsOn, m.id()))
	}
}

func relate(source common.ElementID, kind string, target common.ElementID) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.MakeDocElementID("", string(source)), RefB: common.MakeDocElementID("", string(target)), Relationship: kind}
}

func (m module) id() common.ElementID { return elementID("Module", m.path+"-"+m.version) }

func (m module) describe() *spdx.Package {
	return &spdx.Package{
		PackageName: m.path, PackageSPDXIdentifier: m.id(), PackageVersion: m.version, PackageSupplier: &common.Supplier{Supplier: unknown},
		PackageDownloadLocation: unknown, PackageLicenseConcluded: unknown, PackageLicenseDeclared: unknown, PackageCopyrightText: unknown,
		PrimaryPackagePurpose: "LIBRARY",
		PackageExternalReferences: []*spdx.PackageExternalReference{
			{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: m.packageURL()},
		},
	}
}

// packageURL names the module in vulnerability databases. The path is in lower case, as package URLs of Go demand, and the version as it is.
func (m module) packageURL() string {
	return "pkg:golang/" + strings.ToLower(m.path) + "@" + escapeVersion.Replace(m.version)
}

// escapeVersion escapes the characters of versions of modules that a package URL gives another meaning.
var escapeVersion = strings.NewReplacer("+", "%2B")

// outsideID are the characters that an SPDX identifier cannot have.
var outsideID = regexp.MustCompile(`[^A-Za-z0-9.-]`)

// elementID returns the identifier of a name. Different names stay different: a name that loses characters gets a part of its digest.
func elementID(kind, name string) common.ElementID {
	id := outsideID.ReplaceAllString(name, "-")
	if id != name {
		digest := sha256.Sum256([]byte(name))
		id += "-" + hex.EncodeToString(digest[:4])
	}
	return common.ElementID(kind + "-" + id)
}

// readModules returns the modules that are linked into a program, sorted, with Go's own library.
func readModules(binary string) ([]module, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("cannot read the modules of a program: %w", err)
	}
	out := []module{{path: standard, version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		out = append(out, module{path: d.Path, version: d.Version})
	}
	slices.SortFunc(out, compareModules)
	return out, nil
}

func compareModules(a, b module) int {
	return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.version, b.version))
}
