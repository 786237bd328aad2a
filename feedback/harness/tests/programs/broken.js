require('nothing-that-is-there');
