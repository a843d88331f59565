/* The life in a flame graph: zoom, search, details. The picture is complete
 * without it. Frames come in the order in which a reader of the tree meets them
 * (a caller, then all it calls), so that what is below a frame is a range, and
 * its caller the last frame before it that lies higher.
 * Every text from the profile is only ever set as text. */
(function () {
	"use strict";

	var SVG = "http://www.w3.org/2000/svg";
	var HTML = "http://www.w3.org/1999/xhtml";
	var PADDING = 4; /* px between a frame's edge and its text */
	var THIN = 3; /* px: narrower frames have no line around them */
	var svg = document.documentElement;
	var frames = document.getElementById("frames");
	var head = document.getElementById("head");
	var boxes = [];
	var zoomed = 0;
	var pattern = null;
	var letter = 7.2; /* px, until it is measured */

	function make(space, name, parent, attributes) {
		var element = document.createElementNS(space, name);

		for (var key in attributes)
			element.setAttribute(key, attributes[key]);
		parent.appendChild(element);
		return element;
	}

	/* Read the picture: what is where, who is called by whom. */
	function read() {
		var open = [];
		var texts = {};

		frames.querySelectorAll("text").forEach(function (text) {
			texts[text.getAttribute("data-of")] = text;
		});
		frames.querySelectorAll("rect").forEach(function (rect, i) {
			var title = rect.querySelector("title");
			var lines = title.textContent.split("\n");
			var y = +rect.getAttribute("y");

			while (open.length && boxes[open[open.length - 1]].y >= y)
				boxes[open.pop()].end = i;
			boxes.push({
				rect: rect, text: texts[i] || null, y: y, lines: lines,
				x: parseFloat(rect.getAttribute("x")),
				width: parseFloat(rect.getAttribute("width")),
				parent: open.length ? open[open.length - 1] : -1,
				end: -1, hit: false
			});
			open.push(i);
			rect.removeChild(title); /* shown by show() instead */
			rect.classList.add("live");
		});
		open.forEach(function (i) { boxes[i].end = boxes.length; });
	}

	function measure() {
		var probe = make(SVG, "text", frames, {});

		probe.textContent = "mmmmmmmmmm";
		letter = probe.getComputedTextLength() / 10 || letter;
		frames.removeChild(probe);
	}

	function label(box, pixels) {
		var room = Math.floor((pixels - 2 * PADDING) / letter);
		var name = Array.from(box.lines[0]);

		if (room < 3)
			return "";
		if (name.length <= room)
			return name.join("");
		return name.slice(0, room - 1).join("") + "\u2026";
	}

	function hide(box) {
		box.rect.style.display = "none";
		if (box.text)
			box.text.style.display = "none";
	}

	function place(box, x, width, above, total) {
		var shown = label(box, width / 100 * total);

		box.rect.style.display = "";
		box.rect.setAttribute("x", x + "%");
		box.rect.setAttribute("width", width + "%");
		box.rect.classList.toggle("above", above);
		box.rect.classList.toggle("thin", width / 100 * total < THIN);
		if (!shown && !box.text)
			return;
		if (!box.text)
			box.text = make(SVG, "text", frames, {
				y: box.y + 14, dx: PADDING,
				"class": /^lib|^native|^kernel|^other/.test(
					box.rect.getAttribute("class")) ?
					"pale" : ""
			});
		box.text.style.display = shown ? "" : "none";
		box.text.setAttribute("x", x + "%");
		box.text.textContent = shown;
		box.text.classList.toggle("above", above);
		box.text.classList.toggle("hit", box.hit);
	}

	/* Put every frame where the zoom wants it. */
	function layout() {
		var top = boxes[zoomed];
		var total = svg.clientWidth || 1200;
		var above = {};

		for (var i = top.parent; i >= 0; i = boxes[i].parent)
			above[i] = true;
		boxes.forEach(function (box, i) {
			if (above[i])
				place(box, 0, 100, true, total);
			else if (i >= zoomed && i < top.end)
				place(box, (box.x - top.x) / top.width * 100,
				      box.width / top.width * 100, false, total);
			else
				hide(box);
		});
	}

	/* Mark what matches and sum it up, a frame within another only once. */
	function search() {
		var top = boxes[zoomed];
		var sum = 0;
		var until = 0;
		var count = 0;

		boxes.forEach(function (box, i) {
			box.hit = !!pattern && i > 0 && pattern.test(
				box.lines[0] + " (" + box.lines[1] + ")");
			box.rect.classList.toggle("hit", box.hit);
			if (box.text)
				box.text.classList.toggle("hit", box.hit);
			if (!box.hit || i < zoomed || i >= top.end)
				return;
			count++;
			if (i >= until) {
				sum += box.width;
				until = box.end;
			}
		});
		frames.classList.toggle("searching", !!pattern);
		tools.found.textContent = pattern ?
			(sum / top.width * 100).toFixed(2) + "% matched" : "";
		tools.found.setAttribute("data-count", count);
		tools.reset.disabled = !zoomed && !tools.input.value;
	}

	function zoom(i) {
		zoomed = i;
		tip.style.display = "none";
		layout();
		search();
	}

	function look(text) {
		tools.input.classList.remove("wrong");
		try {
			pattern = text ? new RegExp(text, "i") : null;
		} catch (error) {
			pattern = null;
			tools.input.classList.add("wrong");
		}
		search();
	}

	function reset() {
		tools.input.value = "";
		look("");
		zoom(0);
	}

	/* Search and reset, drawn as HTML above the frames. */
	function makeTools() {
		var outer = make(SVG, "foreignObject", head, {
			x: "50%", y: 8, width: "49%", height: 34
		});
		var bar = make(HTML, "div", outer, { id: "tools" });
		var made = {
			found: make(HTML, "output", bar, { id: "matched" }),
			input: make(HTML, "input", bar, {
				id: "search", type: "text", spellcheck: "false",
				placeholder: "search (regular expression)",
				"aria-label": "search"
			}),
			reset: make(HTML, "button", bar, { id: "reset" })
		};

		made.reset.textContent = "reset";
		made.reset.addEventListener("click", reset);
		made.input.addEventListener("input", function () {
			look(made.input.value);
		});
		return made;
	}

	function makeTip() {
		var group = make(SVG, "g", svg, { id: "tip" });

		make(SVG, "rect", group, { rx: 6 });
		["name", "place", "cost"].forEach(function (kind, i) {
			make(SVG, "text", group, {
				x: 10, y: 20 + 17 * i, "class": kind
			});
		});
		group.style.display = "none";
		group.style.pointerEvents = "none";
		return group;
	}

	function cut(text, room) {
		var letters = Array.from(text);

		return letters.length <= room ? text :
			letters.slice(0, room - 1).join("") + "\u2026";
	}

	/* The details of a frame, beside the pointer and inside the window. */
	function show(box, event) {
		var texts = tip.querySelectorAll("text");
		var room = Math.max(20, Math.floor(svg.clientWidth / letter) - 8);
		var longest = 0;
		var lines = box.lines.map(function (line) { return cut(line, room); });
		var width, height, x, y;

		texts.forEach(function (text, i) {
			text.textContent = lines[i] || "";
			longest = Math.max(longest, (lines[i] || "").length);
		});
		tip.style.display = "";
		texts.forEach(function (text) {
			longest = Math.max(longest,
					   text.getComputedTextLength() / letter);
		});
		width = longest * letter + 20;
		height = 17 * lines.length + 12;
		tip.firstChild.setAttribute("width", width);
		tip.firstChild.setAttribute("height", height);
		x = Math.min(event.pageX + 14, svg.clientWidth - width - 6);
		y = event.pageY + 18;
		if (y + height > window.scrollY + window.innerHeight)
			y = event.pageY - height - 10;
		tip.setAttribute("transform",
				 "translate(" + Math.max(4, x) + "," + y + ")");
	}

	function boxOf(event) {
		return boxes.findIndex(function (box) {
			return box.rect === event.target;
		});
	}

	function listen() {
		frames.addEventListener("click", function (event) {
			var i = boxOf(event);

			if (i >= 0)
				zoom(i);
		});
		frames.addEventListener("mousemove", function (event) {
			var i = boxOf(event);

			if (i >= 0)
				show(boxes[i], event);
		});
		frames.addEventListener("mouseleave", function () {
			tip.style.display = "none";
		});
		window.addEventListener("keydown", function (event) {
			var typing = event.target === tools.input;

			if (event.key === "Escape") {
				tools.input.blur();
				reset();
			} else if ((event.key === "/" && !typing) ||
				   (event.key === "f" &&
				    (event.ctrlKey || event.metaKey))) {
				event.preventDefault();
				tools.input.focus();
				tools.input.select();
			}
		});
		window.addEventListener("scroll", function () {
			head.setAttribute("transform",
					  "translate(0," + window.scrollY + ")");
		});
		window.addEventListener("resize", layout);
	}

	var tools, tip;

	svg.setAttribute("width", "100%");
	read();
	measure();
	tools = makeTools();
	tip = makeTip();
	listen();
	zoom(0);
})();
