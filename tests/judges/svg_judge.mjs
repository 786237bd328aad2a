// Judges SVG images by saxes (well-formed XML with namespaces), svg-path-parser (the grammar of path data), and svgpath (the same by
// another parser, and transforms). svgpath refuses numbers such as 09, which the specification allows; such paths are left to the first.

import { judgeEach, need } from './judging.mjs';

const { SaxesParser } = need('saxes');
const { parseSVG } = need('svg-path-parser');
const svgpath = need('svgpath');

const SVG = 'http://www.w3.org/2000/svg';

judgeEach((text) => {
  const parser = new SaxesParser({ xmlns: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ local, uri, attributes }) => {
    if (uri !== SVG) throw new Error(`${local} is not of SVG`);
    if (attributes.transform) {
      const moved = svgpath('M1 1').transform(attributes.transform.value);
      if (moved.err) throw new Error(`transform: ${moved.err}`);
    }
    if (local !== 'path') return;
    const data = attributes.d.value;
    const commands = parseSVG(data);
    const second = svgpath(data);
    if (/numbers started with `0`/.test(second.err)) return;
    if (second.err) throw new Error(second.err);
    const ends = commands.filter(({ command }) => command !== 'closepath').length;
    const others = second.segments.filter(([command]) => command !== 'z' && command !== 'Z').length;
    if (ends !== others) throw new Error(`${ends} segments, or ${others}`);
  });
  parser.write(text).close();
});
