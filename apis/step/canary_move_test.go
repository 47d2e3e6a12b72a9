package step

import (
	"maps"

	"github.com/intentplane/intentplane/apis/ledger"
)

// The canary model moves between Blueprints with and without tracks. The content of each object matters then: the files without tracks cannot be
// rendered any more once the user asks for others, nor can the files that tracks share.

// servingTrack returns the track that gets requests by the directories, where these can be taken back from it: the shared files of the tracks are in the objects.
func (m *canaryModel) servingTrack(view canaryView) string {
	serving := ""
	for _, site := range m.sites {
		d := view.deliveries[m.repositoryOf(site.name)]
		for _, t := range []string{ledger.TrackBlue, ledger.TrackGreen} {
			files := d.files[site.name]
			switch {
			case d.trees[site.name][t].Weight == 0:
			case len(files) == 0, files.isFlat():
				return ""
			default:
				serving = t
			}
		}
	}
	return serving
}

// flatDirectory returns the desired directory of a revision without tracks, or of its rollback.
func flatDirectory(s ledger.State, d Directory) (canaryDirectory, bool) {
	switch {
	case s.IsRejected() && s.Cursor.Attempt == 0:
		return nil, false
	case s.IsRejected():
		p := s.PastRevision(s.Target)
		return aloneDirectory(p.Track, p.Number, buildOf(p.Request.Intent)), true
	}
	_, isReached := s.Current.StepAt(s.Cursor.Step, d.Site)
	return aloneDirectory(ledger.TrackPlain, s.Current.Number, buildOf(s.Current.Request.Intent)), isReached
}

// ask asks the repository for directories, and remembers whose files the object has then. A directory in tracks keeps the shared files, and one without keeps its
// present files.
func (d *canaryDelivery) ask(wanted map[string]canaryDirectory, observed canaryDelivery) {
	files := map[string]canaryDirectory{}
	for site, previous := range observed.files {
		if previous.equal(observed.trees[site]) || !previous.isFlat() {
			files[site] = previous
		}
	}
	maps.Copy(files, wanted)
	d.wanted, d.files = wanted, files
}

// holdsStable is true if the objects have the files that a move needs of each Site.
func (m *canaryModel) holdsStable(view canaryView, recorded ledger.State) bool {
	stable := recorded.PastRevision(recorded.Stable)
	for _, t := range stable.Trees {
		d := view.deliveries[m.repositoryOf(t.Site)]
		files, delivered := d.files[t.Site], d.trees[t.Site]
		if _, isBeside := delivered.folderOf(ledger.TrackPlain); isBeside || len(files) > 1 && files[ledger.TrackPlain].Revision != 0 {
			continue
		}
		if len(files) == 0 || !files.equal(delivered) {
			return false
		}
	}
	return true
}

// hasFilesFor is true if a directory can be brought to an aim.
func (m *canaryModel) hasFilesFor(aim Aim, d canaryDelivery, in Input, s ledger.State, site string) bool {
	delivered, files := d.trees[site], d.files[site]
	isOwn := in.Desired != nil && in.Desired.Request == s.Current.Request && !s.IsRejected()
	if aim.Restores || aim.IsAlone || !s.IsMove() {
		return !aim.IsAlone || isOwn || s.Cursor.Stage == ledger.StageAlone
	}
	_, putsPlain := aim.Put[ledger.TrackPlain]
	if ledger.IsPlain(s.Current.Track) { // Folders of tracks are known by their ids.
		return (isOwn || !putsPlain) && (len(files) > 1 || len(files) == 1 && !files.isFlat())
	}
	return !putsPlain || !delivered.isFlat() || files.equal(delivered) || len(files) > 1 && files[ledger.TrackPlain].Revision == delivered[ledger.TrackPlain].Revision
}

// hasLostFiles is true for a move that cannot go on at a Site.
func (m *canaryModel) hasLostFiles(view canaryView, in Input, s ledger.State) bool {
	if !s.IsMove() || s.Verdict != nil || in.Desired == nil || in.Desired.Request != s.Current.Request {
		return false
	}
	for _, d := range in.Directories {
		delivery := view.deliveries[m.repositoryOf(d.Site)]
		aim := in.AimAt(s, d)
		if !aim.Keeps && !aim.IsUnknown && len(delivery.trees[d.Site]) > 0 && !m.hasFilesFor(aim, delivery, in, s, d.Site) {
			return true
		}
	}
	return false
}

// lacksFiles is true where a directory cannot be brought to its aim now: the spec asks for something else by now. Nothing is proven then.
func (m *canaryModel) lacksFiles(view canaryView, in Input, s ledger.State) bool {
	if !s.IsMove() || s.Verdict != nil {
		return false
	}
	for _, d := range in.Directories {
		delivery := view.deliveries[m.repositoryOf(d.Site)]
		if aim := in.AimAt(s, d); !aim.Keeps && !aim.IsUnknown && !m.hasFilesFor(aim, delivery, in, s, d.Site) {
			return true
		}
	}
	return false
}

// noteLostFiles notes that a directory is restored at once, since its files are in no object. Requests may fail then where a delivery was lost in a move, which
// the documentation says, and nowhere else.
func (m *canaryModel) noteLostFiles(site string) {
	m.isExcused[site] = m.isExcused[site] || m.isAsking && m.hasLost[site]
}
