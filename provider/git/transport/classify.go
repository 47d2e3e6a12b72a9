package transport

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// A Verb is the attempted operation. The same answer may have different
// meanings: a client that may read but not write has valid credentials, and a
// rule against the write.
type Verb string

// Verbs of operations, as messages have them.
const (
	// VerbRead is of operations that read.
	VerbRead Verb = "read"
	// VerbPush is of pushes.
	VerbPush Verb = "push to"
)

// Failure turns an error of the transport into an Error. Not every layer below
// keeps the error of the context, so it is asked for.
func (c *Conn) Failure(ctx context.Context, v Verb, err error) error {
	var classified *failure.Error
	if errors.As(err, &classified) {
		return classified
	}
	if ended := ctx.Err(); ended != nil {
		err = ended
	}
	class, detail := classifyTransport(v, err)
	e := failure.Newf(class, "cannot %s the repository: %s", v, c.CleanText(detail))
	e.Remote = c.CleanLines(serverWords(err))
	if class == failure.ClassAuth && c.app != nil {
		c.app.forgetToken()
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ended) {
			e = e.EndedBy(ended)
		}
	}
	if errors.Is(err, context.Canceled) {
		return e
	}
	var dns *net.DNSError
	return c.route.concealCause(ctx, v, e, errors.As(err, &dns) && dns.IsNotFound)
}

// serverWords returns the message to users in an answer that is an error. A page for browsers is left out, and a text that says no more than the status.
func serverWords(err error) string {
	var classified *failure.ClassifiedError
	if errors.As(err, &classified) {
		return classified.Said
	}
	status, text := statusAndText(err)
	text = strings.TrimSpace(text)
	name := http.StatusText(status)
	if strings.HasPrefix(text, "<") || strings.EqualFold(text, name) || strings.EqualFold(text, strings.TrimSpace(fmt.Sprintf("%d %s", status, name))) {
		return ""
	}
	return text
}

// statusAndText returns the status and the text of an answer that is an error. For some statuses go-git has the text in the message of its error alone, after
// the message of the error for the status.
func statusAndText(err error) (int, string) {
	var answer *githttp.Err
	if errors.As(unwrapUnexpected(err), &answer) {
		return answer.StatusCode(), answer.Reason
	}
	for status, recorded := range map[int]error{
		http.StatusUnauthorized: transport.ErrAuthenticationRequired,
		http.StatusForbidden:    transport.ErrAuthorizationFailed,
		http.StatusNotFound:     transport.ErrRepositoryNotFound,
	} {
		if errors.Is(err, recorded) {
			_, text, _ := strings.Cut(err.Error(), recorded.Error()+": ")
			return status, text
		}
	}
	return 0, ""
}

// unwrapUnexpected returns the error in go-git's UnexpectedError, which does not unwrap.
func unwrapUnexpected(err error) error {
	var unexpected *plumbing.UnexpectedError
	if errors.As(err, &unexpected) {
		return unexpected.Err
	}
	return err
}

// proxyRefused is the same whether the proxy tunnels or not.
const proxyRefused = "the proxy did not accept the credentials, or wants some"

func classifyTransport(v Verb, err error) (failure.Class, string) {
	err = unwrapUnexpected(err)
	var (
		host *hostKeyError
		wire *failure.ClassifiedError
	)
	if errors.As(err, &host) {
		wire = &host.ClassifiedError
	}
	if wire != nil || errors.As(err, &wire) {
		return wire.Class, wire.Detail
	}
	var answer *githttp.Err
	if errors.As(err, &answer) {
		return classifyStatus(answer.StatusCode())
	}
	for _, classify := range []func(Verb, error) (failure.Class, string){classifyFormat, classifyAccess, classifyTrust, classifyNetwork} {
		if class, detail := classify(v, err); class != "" {
			return class, detail
		}
	}
	text := strings.Replace(err.Error(), multiACKNote, "", 1)
	return ClassifyText(text), text
}

// classifyFormat finds the list of refs of a repository with longer object ids, which go-git cannot decode.
func classifyFormat(_ Verb, err error) (failure.Class, string) {
	var list *packp.ErrUnexpectedData
	if errors.As(err, &list) && bytes.Contains(list.Data, []byte("object-format=sha256")) {
		return failure.ClassInvalid, "its object format is SHA-256, and only SHA-1 is supported: name a repository that git init --object-format=sha1 made"
	}
	return "", ""
}

func classifyStatus(code int) (failure.Class, string) {
	text := "the server answered " + cmp.Or(http.StatusText(code), fmt.Sprintf("status %d", code))
	switch {
	case code == http.StatusProxyAuthRequired:
		return failure.ClassAuth, proxyRefused
	case code == http.StatusRequestEntityTooLarge:
		return failure.ClassTooLarge, text
	case code == http.StatusGone:
		return failure.ClassNotFound, text
	case code >= http.StatusInternalServerError, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return failure.ClassTransient, text
	}
	return failure.ClassUnknown, text
}

func classifyAccess(v Verb, err error) (failure.Class, string) {
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired):
		return failure.ClassAuth, "the credentials were not accepted"
	case errors.Is(err, transport.ErrAuthorizationFailed) && v == VerbPush:
		return failure.ClassAuth, "these credentials may not write it"
	case errors.Is(err, transport.ErrAuthorizationFailed):
		return failure.ClassAuth, "these credentials may not read it"
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return failure.ClassNotFound, "it does not exist, or these credentials may not see it"
	// Not every layer keeps the error.
	case strings.HasSuffix(err.Error(), pktline.ErrInvalidPktLen.Error()), errors.Is(err, transport.ErrEmptyUploadPackRequest):
		return failure.ClassTransient, "the response is not from a Git server, or is incomplete"
	case strings.HasSuffix(err.Error(), http.StatusText(http.StatusProxyAuthRequired)):
		return failure.ClassAuth, proxyRefused
	}
	return classifyTLSAlert(err)
}

// classifyTLSAlert classifies the alert of a TLS server during the handshake. Its error has no type of its own.
func classifyTLSAlert(err error) (failure.Class, string) {
	var opError *net.OpError
	if !errors.As(err, &opError) || opError.Op != "remote error" {
		return "", ""
	}
	if strings.Contains(opError.Error(), "certificate") {
		return failure.ClassAuth, "the client certificate was not accepted, or there is none"
	}
	return failure.ClassTrust, "it refused to speak TLS with us"
}

// addressRefused is the same for all refused addresses and ports, and for each setting that leads there: it reveals nothing about servers at the address.
const addressRefused = "its URL, its proxy or the base URL of its GitHub App leads to an address that a ProviderConfig may not reach"

func classifyTrust(_ Verb, err error) (failure.Class, string) {
	var (
		refused   *address.RefusedError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		cert      *tls.CertificateVerificationError
		record    tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &refused):
		return failure.ClassAddress, addressRefused
	case errors.As(err, &authority):
		return failure.ClassTrust, "its certificate is signed by an unknown authority"
	case errors.As(err, &host):
		return failure.ClassTrust, "its certificate is for another host"
	case errors.As(err, &invalid), errors.As(err, &cert):
		return failure.ClassTrust, "its certificate is not valid, perhaps expired"
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return failure.ClassTrust, "it does not speak TLS on this port"
	case strings.Contains(err.Error(), "http redirect:"):
		return failure.ClassTrust, "the server redirects where no credentials may follow"
	}
	return "", ""
}

// closedIdle is the text of net/http's error, which has no name, for a connection that the server closes as a request begins.
const closedIdle = "http: server closed idle connection"

// classifyNetwork leaves out addresses: the local port changes each time, and
// messages must be stable.
func classifyNetwork(_ Verb, err error) (failure.Class, string) {
	var (
		dns     *net.DNSError
		syscall *os.SyscallError
		timeout net.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		return failure.ClassTransient, "it was interrupted"
	case errors.As(err, &dns) && dns.IsNotFound:
		return failure.ClassTransient, "its host name is not known"
	case errors.As(err, &dns):
		return failure.ClassTransient, "its host name cannot be resolved"
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return failure.ClassTransient, "it did not answer in time"
	case errors.As(err, &syscall):
		return failure.ClassTransient, syscall.Err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), strings.Contains(err.Error(), closedIdle):
		return failure.ClassTransient, "the connection ended early"
	}
	return "", ""
}

// ClassifyText returns the class of a text in which a Git server refuses a
// push. Servers have no codes for this, only words; the first class with a word
// in the text wins.
func ClassifyText(text string) failure.Class {
	text = strings.ToLower(text)
	for _, row := range refusalTable() {
		for _, words := range row.words {
			if strings.Contains(text, words) {
				return row.class
			}
		}
	}
	return failure.ClassUnknown
}

type refusalWords struct {
	class failure.Class
	words []string
}

func refusalTable() []refusalWords {
	return []refusalWords{
		{class: failure.ClassConflict, words: []string{
			"non-fast-forward", "fetch first", "cannot lock ref", "unable to lock", "failed to lock", "incorrect old value provided",
			"reference already exists", "but expected", "stale info", "failed to update ref", "unable to resolve reference",
		}},
		{class: failure.ClassTooLarge, words: []string{"too large", "exceeds", "file size limit", "quota"}},
		{class: failure.ClassAuth, words: []string{"authentication required", "invalid credentials", "bad credentials", "authentication failed"}},
		{class: failure.ClassNotFound, words: []string{"repository not found", "project you were looking for could not be found", "does not appear to be a git repository", "no such repository"}},
		{class: failure.ClassPolicy, words: []string{
			"hook declined", "protected branch", "protected ref", "deny", "denied", "declined", "prohibited", "not allowed", "not permitted",
			"forbidden", "funny refname", "invalid refname", "hidden ref", "read-only", "read only", "archived", "gh006", "gh013", "tf401027",
			"currently checked out", "must be signed", "missing permission",
		}},
		{class: failure.ClassTransient, words: []string{
			"timeout", "timed out", "connection refused", "connection reset", "broken pipe", "eof", "missing flush", "try again", "temporarily",
			"internal server error", "internal error", "bad gateway", "service unavailable", "too many requests", "not our ref", "no space left",
			"unable to write", "unpacker error",
		}},
	}
}
