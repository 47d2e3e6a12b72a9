package objects

import (
	"bytes"
	"strings"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/signature"
)

// signatureHeader is where a commit has its signature.
const signatureHeader = "gpgsig "

// signCommitData returns the commit with a signature after its other headers.
func signCommitData(commit []byte, signer *signature.Signer) ([]byte, error) {
	if signer == nil {
		return commit, nil
	}
	s, err := signer.Sign(commit)
	if err != nil {
		return nil, failure.Newf(failure.ClassInvalid, "cannot sign commit: %s", err)
	}
	header := signatureHeader + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n ") + "\n"
	head, body, _ := bytes.Cut(commit, []byte("\n\n"))
	return bytes.Join([][]byte{head, []byte("\n" + header + "\n"), body}, nil), nil
}

// SplitSignature returns the signed content, and the signature, which is empty for an unsigned commit.
func SplitSignature(commit []byte) ([]byte, string) {
	head, body, _ := bytes.Cut(commit, []byte("\n\n"))
	unsigned, signed, inside := []byte{}, []byte{}, false
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		first, begins := bytes.CutPrefix(line, []byte(signatureHeader))
		next, goesOn := bytes.CutPrefix(line, []byte(" "))
		switch {
		case begins && len(signed) == 0:
			inside = true
			signed = appendLine(signed, first)
			continue
		case inside && goesOn:
			signed = appendLine(signed, next)
			continue
		}
		inside = false
		unsigned = appendLine(unsigned, line)
	}
	if len(signed) == 0 {
		return commit, ""
	}
	content := bytes.Join([][]byte{bytes.TrimSuffix(unsigned, []byte("\n")), body}, []byte("\n\n"))
	return content, string(signed)
}

func appendLine(text, line []byte) []byte { return append(append(text, line...), '\n') }
