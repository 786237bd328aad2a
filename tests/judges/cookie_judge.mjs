// Judges values of Set-Cookie by tough-cookie, strict: it finds the name, the value and each attribute that stands
// there. With `--loose`, it reads a cookie, as user agents do.

import process from 'node:process';
import { judgeEach, need } from './judging.mjs';

const { Cookie } = need('tough-cookie');
const PROPERTIES = {
  expires: (cookie) => cookie.expires instanceof Date && !Number.isNaN(cookie.expires.getTime()),
  'max-age': (cookie, value) => cookie.maxAge === Number(value),
  domain: (cookie, value) => cookie.domain === value.replace(/^\./, '').toLowerCase(),
  path: (cookie, value) => cookie.path === value,
  secure: (cookie) => cookie.secure,
  httponly: (cookie) => cookie.httpOnly,
  samesite: (cookie, value) => cookie.sameSite === value.toLowerCase(),
};

const loose = process.argv.includes('--loose');

judgeEach((text) => {
  if (loose) return Cookie.parse(text, { loose }) ? undefined : 'no cookie';
  const cookie = Cookie.parse(text);
  if (!cookie) return 'no cookie';
  const [pair, ...attributes] = text.split(/;[ \t]*/);
  if (`${cookie.key}=${cookie.value}` !== pair) return `the pair is read as ${cookie.key}=${cookie.value}`;
  const names = attributes.map((attribute) => attribute.split('=', 1)[0].toLowerCase());
  if (new Set(names).size !== names.length) return 'an attribute stands twice';
  for (const [index, name] of names.entries()) {
    const value = attributes[index].slice(name.length + 1);
    const found = PROPERTIES[name] ?? ((cookie) => cookie.extensions?.includes(attributes[index]));
    if (!found(cookie, value)) return `not found: ${attributes[index]}`;
  }
  if (pair.startsWith('__') && !cookie.secure) return 'the prefix asks for Secure';
  if (pair.startsWith('__Host-') && (cookie.path !== '/' || cookie.domain)) return 'the prefix asks for Path=/, and no Domain';
  if ((cookie.sameSite === 'none' || names.includes('partitioned')) && !cookie.secure) return 'an attribute asks for Secure';
});
