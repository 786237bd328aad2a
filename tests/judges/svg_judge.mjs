// Judges SVG images by saxes (well-formed XML with namespaces), svg-path-parser (the grammar of path data), and svgpath
// (the same by another parser, and transforms). svgpath refuses numbers such as 09, which the specification allows;
// such paths are left to the first. With `--form` elements of other namespaces, prefixes that nobody declares and paths
// without data are accepted.

import { judgeEach, need } from './judging.mjs';

const { SaxesParser } = need('saxes');
const { parseSVG } = need('svg-path-parser');
const svgpath = need('svgpath');

const form = process.argv.includes('--form');
const SVG = 'http://www.w3.org/2000/svg';

judgeEach((text) => {
  const parser = new SaxesParser({ xmlns: !form });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, local, uri, attributes }) => {
    if (!form && uri !== SVG) throw new Error(`${local} is not of SVG`);
    const value = (attribute) => (form ? attributes[attribute] : attributes[attribute]?.value);
    if (value('transform')) {
      const moved = svgpath('M1 1').transform(value('transform'));
      if (moved.err) throw new Error(`transform: ${moved.err}`);
    }
    if ((form ? name : local) !== 'path' || (form && !attributes.d)) return;
    const data = value('d');
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
