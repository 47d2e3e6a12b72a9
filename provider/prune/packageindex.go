package prune

// A packageKey names a package, of any kind where kind is empty.
type packageKey struct{ kind, namespace, name string }

// A bundleKey names a bundle of a namespace.
type bundleKey struct {
	namespace string
	BundleName
}

// An ownPackage is a package of its own bundle.
type ownPackage struct {
	bundle bundleKey
	name   string
}

func keyOfBundle(p *Package) bundleKey {
	return bundleKey{namespace: p.Namespace, BundleName: p.Bundle}
}

// A packageIndex finds the objects that name a package, without a scan of all for each: a tenant may write any number of packages, Bundles and records.
type packageIndex struct {
	// bundles that exist, and named the packages that they name.
	bundles map[bundleKey]bool
	named   map[ownPackage]bool

	// records by their bundles, and unreadable records by their namespaces.
	records    map[bundleKey]*Record
	unreadable map[string][]*Record

	// bundleUsers and recordUsers are the first Bundle and the first record that name a package.
	bundleUsers map[packageKey]*Bundle
	recordUsers map[packageKey]*Record

	// controllers are the first objects that control a package of a kind.
	controllers map[packageKey]*Living
}

func newPackageIndex(f *Facts) *packageIndex {
	x := &packageIndex{
		bundles: map[bundleKey]bool{}, named: map[ownPackage]bool{}, records: map[bundleKey]*Record{}, unreadable: map[string][]*Record{},
		bundleUsers: map[packageKey]*Bundle{}, recordUsers: map[packageKey]*Record{}, controllers: map[packageKey]*Living{},
	}
	for i := range f.Bundles {
		x.indexBundle(&f.Bundles[i])
	}
	for i := range f.Records {
		x.indexRecord(&f.Records[i])
	}
	for i := range f.Living {
		l := &f.Living[i]
		setIfAbsent(x.controllers, packageKey{l.Claim.Kind, l.Claim.Namespace, l.Claim.Name}, l)
	}
	return x
}

func (x *packageIndex) indexBundle(b *Bundle) {
	key := bundleKey{namespace: b.Namespace, BundleName: b.BundleName}
	x.bundles[key] = true
	for _, name := range b.Packages {
		x.named[ownPackage{key, name}] = true
		setIfAbsent(x.bundleUsers, packageKey{namespace: b.Namespace, name: name}, b)
	}
}

func (x *packageIndex) indexRecord(r *Record) {
	x.records[bundleKey{namespace: r.Namespace, BundleName: r.BundleName}] = r
	if r.IsNewer || r.IsBroken {
		x.unreadable[r.Namespace] = append(x.unreadable[r.Namespace], r)
	}
	for _, name := range r.Uses {
		setIfAbsent(x.recordUsers, packageKey{namespace: r.Namespace, name: name}, r)
	}
}

// setIfAbsent sets the value of a key that has none.
func setIfAbsent[V any](m map[packageKey]*V, key packageKey, value *V) {
	if m[key] == nil {
		m[key] = value
	}
}
