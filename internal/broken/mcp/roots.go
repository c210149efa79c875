package mcp

import (
	"encoding/json"
	"path"
	"strings"
)

// rootChoices are the choices for pages below the first root of the client. The first is a fault, and so is the third,
// which compares the path of a page and the root as texts. The last one compares whole names of folders.
var rootChoices = []string{"pages below any root", "pages below own roots", "pages below beginnings of roots", "pages below whole roots"}

// ownRoot is the folder of the pages.
const ownRoot = "/srv/pages"

// pageBelowRoot asks for the roots of the client and returns a page below the first.
func (s *Server) pageBelowRoot(r request, name string) (object, *failure) {
	_, given, fail := s.state(r, r.placed("page"), name)
	switch {
	case fail != nil:
		return nil, fail
	case !given && r.modern && !r.asks("roots"):
		return nil, &failure{code: -32021, status: 400, message: "roots are required", data: object{"requiredCapabilities": object{"roots": object{}}}}
	case !given:
		return object{
			"resultType": "input_required", "requestState": s.mint(claims{Env: name}, r.placed("page")),
			"inputRequests": object{"folder": object{"method": "roots/list", "params": object{}}}, "_meta": s.complete(object{})["_meta"],
		}, nil
	}
	var answers struct {
		Folder struct {
			Roots []struct {
				URI string `json:"uri"`
			} `json:"roots"`
		} `json:"folder"`
	}
	if json.Unmarshal(r.params["inputResponses"], &answers) != nil || len(answers.Folder.Roots) == 0 {
		return s.toolError("no root"), nil
	}
	root := strings.TrimPrefix(answers.Folder.Roots[0].URI, "file://")
	if s.has(rootChoices[2:]...) {
		return s.pageWithin(root, name), nil
	}
	if inside := root == ownRoot || strings.HasPrefix(root, ownRoot+"/"); !inside && !s.has("pages below any root") {
		return s.toolError("not a folder of this server"), nil
	}
	if path.Join(root, path.Join("/", name)) != "/etc/passwd" {
		return s.toolError("no such page"), nil
	}
	return s.toolText("root:x:0:0:root:/root:/bin/sh"), nil
}

// pageWithin returns a page if its path is below a root. With a fault it need only begin like the root.
func (s *Server) pageWithin(root, name string) object {
	if s.has("pages below whole roots") {
		root = strings.TrimSuffix(root, "/") + "/"
	}
	if !strings.HasPrefix(path.Clean(name), root) {
		return s.toolError("outside of the roots")
	}
	return s.toolText("a page")
}
