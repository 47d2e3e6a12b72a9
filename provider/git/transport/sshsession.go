package transport

import (
	"context"
	"io"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"golang.org/x/crypto/ssh"

	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// An sshSession speaks to one service of a server over one connection. It is not safe for concurrent use.
type sshSession struct {
	wire    *sshConn
	service string
	client  *ssh.Client
	adv     *packp.AdvRefs
	// line on which the server advertised its refs, and that was not used since.
	line *sshLine
}

// openSession connects to a service. The connection ends with the context, at the latest.
func (w *sshConn) openSession(ctx context.Context, service string) (*sshSession, error) {
	client, err := w.dialSSHServer(ctx)
	return &sshSession{wire: w, service: service, client: client}, err
}

// AdvertisedReferences is AdvertisedReferencesContext.
func (s *sshSession) AdvertisedReferences() (*packp.AdvRefs, error) {
	return s.AdvertisedReferencesContext(context.Background())
}

// AdvertisedReferencesContext returns the refs and the capabilities of the server.
func (s *sshSession) AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error) {
	if s.adv != nil {
		return s.adv, nil
	}
	l, adv, err := s.openCommandLine(budget.CountOf(ctx))
	if err != nil {
		return nil, err
	}
	s.line, s.adv = l, adv
	if s.service == transport.UploadPackServiceName && adv.IsEmpty() {
		return nil, transport.ErrEmptyRemoteRepository
	}
	return adv, nil
}

// UploadPack fetches. Each request has a command of its own, for a command takes one.
func (s *sshSession) UploadPack(_ context.Context, req *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	l, err := s.takeUnusedLine()
	if err != nil {
		return nil, err
	}
	if err := l.sendRequest(req); err != nil {
		return nil, l.explainCommandEnd(s.service, err)
	}
	res := packp.NewUploadPackResponse(req)
	if err := res.Decode(l); err != nil {
		return nil, l.explainCommandEnd(s.service, err)
	}
	return res, nil
}

// ReceivePack pushes, and waits until the server has done all that follows: to leave early could stop it.
func (s *sshSession) ReceivePack(_ context.Context, req *packp.ReferenceUpdateRequest) (*packp.ReportStatus, error) {
	l, err := s.takeUnusedLine()
	if err != nil {
		return nil, err
	}
	defer l.Close() //nolint:errcheck // Everything was read, or failed before.
	// A server that refuses may not read to the end, and says why.
	sent := errors.Join(req.Encode(l.in), l.in.Close())
	report := packp.NewReportStatus()
	if err := report.Decode(demultiplexReport(req, l)); err != nil {
		if sent != nil {
			err = sent
		}
		return nil, l.explainCommandEnd(s.service, err)
	}
	_, _ = io.Copy(io.Discard, l)
	return report, report.Error()
}

func demultiplexReport(req *packp.ReferenceUpdateRequest, r io.Reader) io.Reader {
	if !req.Capabilities.Supports(capability.Sideband64k) {
		return r
	}
	d := sideband.NewDemuxer(sideband.Sideband64k, r)
	d.Progress = req.Progress
	return d
}

// Close ends the connection.
func (s *sshSession) Close() error {
	if s.line != nil {
		_, _ = s.line.in.Write(pktline.FlushPkt) // So that the server does not think we were lost.
	}
	return s.client.Close()
}

// takeUnusedLine returns a line that was not used yet.
func (s *sshSession) takeUnusedLine() (*sshLine, error) {
	l := s.line
	if s.line = nil; l != nil {
		return l, nil
	}
	l, _, err := s.openCommandLine(nil)
	return l, err
}

// openCommandLine opens a line, and reads the advertisement of the server. Count counts its bytes, and may be nil.
func (s *sshSession) openCommandLine(count func(bytes int) error) (*sshLine, *packp.AdvRefs, error) {
	session, err := s.client.NewSession()
	if err != nil {
		return nil, nil, err
	}
	l := &sshLine{session: session, said: &stderrBuffer{}}
	session.Stderr = l.said
	in, err := session.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	l.in = in
	l.out = &limitedBody{
		ReadCloser: io.NopCloser(&stallReader{next: out, time: s.wire.stall, left: s.wire.answer, giveUp: s.client.Close}), left: min(s.wire.limit, maxListBytes), count: count,
	}
	if err := session.Start(remoteCommand(s.service, s.wire.path)); err != nil {
		var refused *ssh.ExitError
		if errors.As(err, &refused) || err.Error() == "ssh: command "+remoteCommand(s.service, s.wire.path)+" failed" {
			return nil, nil, &failure.ClassifiedError{Class: failure.ClassAuth, Detail: "its server does not run Git for this key"}
		}
		return nil, nil, err
	}
	adv := packp.NewAdvRefs()
	err = adv.Decode(l)
	if err != nil && !errors.Is(err, packp.ErrEmptyAdvRefs) {
		return nil, nil, l.explainCommandEnd(s.service, err)
	}
	l.out.count = nil
	transport.FilterUnsupportedCapabilities(adv.Capabilities)
	if s.service == transport.UploadPackServiceName {
		l.out.left = s.wire.limit // Objects follow.
	}
	return l, adv, nil
}

// An sshLine is one command at the server.
type sshLine struct {
	session *ssh.Session
	in      io.WriteCloser
	out     *limitedBody
	said    *stderrBuffer
}

// Read the answer of the server.
func (l *sshLine) Read(p []byte) (int, error) { return l.out.Read(p) }

// Close ends the command.
func (l *sshLine) Close() error { return l.session.Close() }

func (l *sshLine) sendRequest(req *packp.UploadPackRequest) error {
	if err := req.UploadRequest.Encode(l.in); err != nil {
		return err
	}
	if err := req.UploadHaves.Encode(l.in, false); err != nil {
		return err
	}
	if err := pktline.NewEncoder(l.in).Encodef("done\n"); err != nil {
		return err
	}
	return l.in.Close()
}

// explainCommandEnd returns a failure with the server's message to users, if the server ended the command itself.
func (l *sshLine) explainCommandEnd(service string, err error) error {
	if !errors.Is(err, packp.ErrEmptyInput) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	_ = l.session.Wait() // It ended, or the connection does in time.
	output := l.said.String()
	e := &failure.ClassifiedError{Class: ClassifyText(output), Detail: "its server ended the command without an answer", Said: output}
	switch {
	case output == "":
		e.Class = failure.ClassTransient
	case e.Class == failure.ClassNotFound:
		e.Detail = "it does not exist, or this key may not see it"
	case e.Class == failure.ClassPolicy && service == transport.ReceivePackServiceName:
		e.Detail = "this key may not write it"
	case e.Class == failure.ClassPolicy:
		e.Class, e.Detail = failure.ClassAuth, "this key may not read it"
	}
	return e
}

// A stderrBuffer is a transcript that is read while it may still be written.
type stderrBuffer struct {
	mu   sync.Mutex
	text Transcript
}

// String returns the recorded text.
func (m *stderrBuffer) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.String()
}

// Write keeps the text that fits and accepts all of it.
func (m *stderrBuffer) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.Write(p)
}
