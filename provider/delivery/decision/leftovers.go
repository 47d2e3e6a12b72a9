package decision

// HasLeftovers is true while the repository has a directory of a deleted delivery, or a ledger or record of it in the state.
func (f Facts) HasLeftovers() bool {
	return len(f.OwnDirectories()) > 0 || f.IsRemembered()
}

// OwnDirectories returns the directories of this claim that a deletion removes. Directories of other owners are retained, even if the object names them.
func (f Facts) OwnDirectories() []string {
	out := []string{}
	if f.Spec.ClaimRef.Namespace != f.Namespace {
		return out
	}
	for _, path := range f.AllDirectories() {
		if f.isRemovable(path) {
			out = append(out, path)
		}
	}
	return out
}

// IsRemembered is true if the state has a ledger or record of this claim that was not deleted.
func (f Facts) IsRemembered() bool { return f.MayChangeState() && f.Ledger.isRemembered() }
